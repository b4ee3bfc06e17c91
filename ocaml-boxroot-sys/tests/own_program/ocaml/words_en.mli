val seven : string
