(** Roots of C, C++ and Rust code, watched from OCaml. That code makes and deletes them: see [boxroot.h]. *)

(** Prepares the library. OCaml 4: required before C code makes the first root; a library whose stubs make roots calls it
    when it is initialised. If the program contains [Thread], which may be linked after that library, this function initialises [Thread]
    first. OCaml 5: not needed.
    @raise Failure if the library cannot be prepared. *)
val setup : unit -> unit

(** The number of roots that were created and not deleted; exact for the calling domain. *)
val live_roots : unit -> int

(** Prints statistics of roots and memory to standard output. *)
val print_stats : unit -> unit

(** Gives memory without roots back to the system; the result is in bytes. *)
val trim : unit -> int

(** Checks the allocator's invariants for the calling domain.
    @raise Failure if one does not hold: that is a bug of the library, or of C code that wrote where it should not. *)
val validate : unit -> unit
