let seven = "letters"
let not_in_the_interface = ()
