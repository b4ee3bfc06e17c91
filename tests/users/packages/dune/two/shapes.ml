type shape = Circle of { radius : float } | Square of { side : float }

external area : shape -> float = "shapes_area"
