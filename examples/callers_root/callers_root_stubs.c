/* The C side of callers_root.ml: a list of words becomes a sorted tree, twice.

   With local roots, each function registers its arguments and variables, in each call. With "the
   caller roots", a function that may run the collector takes roots (type `boxroot`) and reads them
   again after that; one that may not takes values; a result is a value, which the caller roots if
   it needs it for longer. So the word is rooted once, however deep the recursion goes, and there is
   one root for each level instead of four.

   What it costs is in docs/benchmarks (`local_roots`): for a chain of one or two calls OCaml's
   local roots cost less, for long ones boxroots do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

#include <boxroot.h>

enum { LEFT, WORD, RIGHT, SIZE };
#define LEAF Val_long(0)

/* Where the word belongs: LEFT, RIGHT, or WORD if it is there. Does not run the collector. */
static int side_of(value tree, value word) {
  int order = strcmp(String_val(word), String_val(Field(tree, WORD)));
  return order < 0 ? LEFT : order > 0 ? RIGHT : WORD;
}

/* ---- OCaml's local roots ---- */

static value insert_camlparam(value tree, value word) {
  CAMLparam2(tree, word);
  CAMLlocal2(child, node);
  child = LEAF;
  int side = WORD;
  if (Is_block(tree)) {
    side = side_of(tree, word);
    if (side == WORD) CAMLreturn(tree);
    child = insert_camlparam(Field(tree, side), word);
  }
  node = caml_alloc_small(SIZE, 0);
  for (int i = 0; i < SIZE; i++) Field(node, i) = Is_block(tree) ? Field(tree, i) : LEAF;
  Field(node, side) = side == WORD ? word : child;
  CAMLreturn(node);
}

value tree_camlparam(value words) {
  CAMLparam1(words);
  CAMLlocal1(tree);
  for (tree = LEAF; Is_block(words); words = Field(words, 1)) {
    tree = insert_camlparam(tree, Field(words, 0));
  }
  CAMLreturn(tree);
}

/* ---- the caller roots ---- */

/* A root for v. Ends the program if there is no memory: an exception would leave the roots of the
   callers undeleted. */
static boxroot root(boxroot_domain domain, value v) {
  boxroot result = boxroot_create_in(domain, v);
  if (result == NULL) {
    fprintf(stderr, "callers_root: %s\n", boxroot_error_string());
    abort();
  }
  return result;
}

static void set(boxroot_domain domain, boxroot *r, value v) {
  if (!boxroot_modify_in(domain, r, v)) {
    fprintf(stderr, "callers_root: %s\n", boxroot_error_string());
    abort();
  }
}

static value insert(boxroot_domain domain, boxroot tree, boxroot word) {
  boxroot child = NULL;
  int side = WORD;
  if (Is_block(boxroot_get(tree))) {
    side = side_of(boxroot_get(tree), boxroot_get(word));
    if (side == WORD) return boxroot_get(tree);
    child = root(domain, Field(boxroot_get(tree), side));
    set(domain, &child, insert(domain, child, word));
  }
  value node =
    caml_alloc_small(SIZE, 0); /* only here the collector may run, and no value is kept over it */
  value old = boxroot_get(tree);
  for (int i = 0; i < SIZE; i++) Field(node, i) = Is_block(old) ? Field(old, i) : LEAF;
  Field(node, side) = side == WORD ? boxroot_get(word) : boxroot_get(child);
  if (child != NULL) boxroot_delete_in(domain, child);
  return node;
}

value tree_callers_root(value list) {
  if (!boxroot_setup()) abort(); /* for OCaml 4 */
  boxroot_domain domain = boxroot_domain_self();
  boxroot words = root(domain, list), word = root(domain, LEAF), tree = root(domain, LEAF);
  for (; Is_block(boxroot_get(words)); set(domain, &words, Field(boxroot_get(words), 1))) {
    set(domain, &word, Field(boxroot_get(words), 0));
    set(domain, &tree, insert(domain, tree, word));
  }
  value result = boxroot_get(tree);
  boxroot_delete_in(domain, words);
  boxroot_delete_in(domain, word);
  boxroot_delete_in(domain, tree);
  return result;
}
