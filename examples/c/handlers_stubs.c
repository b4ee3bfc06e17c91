/* The C side of handlers.ml. A handler owns the root of an OCaml closure; the list of handlers is
   ordinary C. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

#include <boxroot.h>

struct handler {
  struct handler *next;
  boxroot closure; /* NULL after `off` */
  char event[];
};

static struct handler *handlers;

static void refuse(void) {
  if (errno == ENOMEM) caml_raise_out_of_memory();
  caml_failwith(boxroot_error_string());
}

value handlers_on(value event, value closure) {
  /* Needed on OCaml 4, before the first root; harmless on OCaml 5. */
  if (!boxroot_setup()) refuse();
  size_t size = caml_string_length(event) + 1;
  struct handler *handler = malloc(sizeof *handler + size);
  if (handler == NULL) caml_raise_out_of_memory();
  memcpy(handler->event, String_val(event), size);
  handler->closure = boxroot_create(closure);
  if (handler->closure == NULL) {
    free(handler);
    refuse();
  }
  handler->next = handlers;
  handlers = handler;
  return (value)handler | 1; /* OCaml takes it for an integer */
}

value handlers_off(value v) {
  struct handler *handler = (struct handler *)(v & ~(value)1);
  for (struct handler **link = &handlers; *link != NULL; link = &(*link)->next) {
    if (*link != handler) continue;
    *link = handler->next;
    boxroot_delete(handler->closure);
    free(handler);
    break;
  }
  return Val_unit;
}

/* Calls the handlers of an event, and returns how many there were. The argument is rooted once,
   here, and not again by the functions that this one calls. The example's handlers do not add or
   remove handlers. */
value handlers_emit(value event, value argument) {
  boxroot name = boxroot_create(event), text = boxroot_create(argument);
  long calls = 0;
  value result = Val_unit;
  if (name == NULL || text == NULL) {
    boxroot_delete(name);
    boxroot_delete(text);
    refuse();
  }
  for (struct handler *handler = handlers; handler != NULL; handler = handler->next) {
    if (strcmp(handler->event, String_val(boxroot_get(name))) != 0) continue;
    calls++;
    /* The collector may run here, so only the roots are used from here on, and not the values
       `event` and `argument`. */
    result = caml_callback_exn(boxroot_get(handler->closure), boxroot_get(text));
    if (Is_exception_result(result)) break;
  }
  boxroot_delete(name);
  boxroot_delete(text);
  /* All roots are deleted, so an exception that is raised here leaks nothing. */
  if (Is_exception_result(result)) caml_raise(Extract_exception(result));
  return Val_long(calls);
}
