(* Which types have conversions, and how Rust represents them. This file answers all questions about a type that several files ask. *)
open Model

(* ---- Floats: an array of a type whose values are blocks of floats is flat. ---- *)

let rec floatness seen ty = match ty with
  | Builtin (Float, _) -> `Float
  | Var _ -> `Unknown
  | Builtin _ | Tuple _ | Arrow _ -> `No
  | Named (d, _) ->
    if d.never_float then `No
    else match d.kind with
      | Unboxed (_, parts) when not (List.memq d seen) -> floatness (d :: seen) (List.hd (parts_types parts))
      | _ -> `Unknown

let floatness = floatness []

(* ---- Natural types ---- *)

let is_mutable d =
  let any = List.exists (fun f -> f.is_mutable) in
  match d.kind with
  | Record (fields, _) -> any fields
  | Variant l -> List.exists (fun c -> match c.parts with Labelled l -> any l | Positional _ -> false) l
  | Opaque | Unboxed _ | Row _ -> false

(* Whether Rust's natural form of a type is a root. `to_ocaml`: it must have a conversion to OCaml. *)
let rec is_root ~to_ocaml ty = match ty with
  | Var _ -> false
  | Builtin ((Exn | Seq | Ref | Lazy | Hashtbl | Map | Set | Bigarray _ | Of_bigarray _), _) | Arrow _ -> true
  | Builtin (Array, [ element ]) -> (match floatness element with
    | `No -> false
    | `Float -> is_root ~to_ocaml element  (* a number in the array is not a value *)
    | `Unknown -> true)
  | Builtin _ -> false
  | Tuple l -> List.length l > 8
  | Named (d, _) -> d.rust = Marker_only || is_mutable d || (to_ocaml && d.is_private)

(* Whether a predicate holds for a type, or for a part of its natural form. *)
let rec any_part ~to_ocaml holds ty =
  holds ty
  || not (is_root ~to_ocaml ty) && List.exists (any_part ~to_ocaml holds) (children ty)

(* ---- Types without conversions ---- *)

(* Repeats until nothing changes. *)
let rec fixed_point step all = if List.fold_left (fun changed d -> step d || changed) false all then fixed_point step all

let rec named ty = (match ty with Named (d, l) -> [ (d, l) ] | _ -> []) @ List.concat_map named (children ty)

(* All declarations that these types name, directly or not. *)
let reachable types =
  let seen = ref [] in
  let rec go ty = List.iter (fun (d, _) ->
    if not (List.memq d !seen) then begin seen := d :: !seen; List.iter go (kind_types d.kind) end) (named ty) in
  List.iter go types;
  !seen

(* `type 'a t = … 'a list t …`: its conversion would need infinitely many others. *)
let is_irregular d =
  let is_other = function Var _ -> false | _ -> true in
  List.exists (fun (e, arguments) ->
    List.exists is_other arguments && List.memq d (e :: reachable (kind_types e.kind)))
    (List.concat_map named (kind_types d.kind))

let without_conversion d reason ~keep_fields =
  d.rust <- Marker_only;
  d.reason <- Some reason;
  if not (keep_fields || is_without_name d) then d.kind <- Opaque

let is_record d = match d.kind with Record _ -> true | _ -> false

(* A root in a Rust type names the marker, and so the marker's parameters, which the Rust type does not have. *)
let has_parameter_under_root d =
  let names_marker = function Named (e, _) -> e.has_markers | Var _ | Builtin _ | Tuple _ | Arrow _ -> false in
  let holds ty = (is_root ~to_ocaml:true ty || names_marker ty) && vars ty <> [] in
  List.exists (any_part ~to_ocaml:true holds) (kind_types d.kind)

(* ---- What Rust types have ---- *)

let rec used_vars ty = match ty with
  | Var v -> [ v ]
  | _ when is_root ~to_ocaml:true ty -> vars ty
  | Named (d, l) ->
    let part = if d.has_markers then vars else used_vars in
    List.concat (List.map2 (fun p t -> if mem p d.used then part t else []) d.params l)
  | _ -> List.concat_map used_vars (children ty)

(* Types that the natural form contains without a pointer. A Vec counts as a pointer. *)
let rec inline ty = match ty with
  | _ when is_root ~to_ocaml:true ty -> []
  | Builtin ((List | Array), _) -> []
  | Named (d, l) -> d :: List.concat_map inline l
  | _ -> List.concat_map inline (children ty)

let inline_reachable d =
  let seen = ref [] in
  let rec go d = List.iter (fun e -> if not (List.memq e !seen) then begin seen := e :: !seen; go e end)
      (List.concat_map inline (kind_types d.kind)) in
  go d;
  !seen

let has_root ty =
  let holds ty = is_root ~to_ocaml:true ty || (match ty with Named (d, _) -> d.has_root | _ -> false) in
  any_part ~to_ocaml:true holds ty

(* ---- Traits that Rust types derive ---- *)

(* The reason, if any, why a part cannot have a trait of the standard library. `has d` says whether a declared type has it. *)
let rec obstacle trait ~has ty = match ty with
  | Var _ -> None
  | _ when is_root ~to_ocaml:true ty -> Some `Root
  | Builtin (Float, _) when List.mem trait [ "Eq"; "Hash"; "Ord" ] -> Some `Float
  | Builtin ((String | Bytes | List | Array), _) when trait = "Copy" -> Some `Pointer
  | Named (d, _) when not (has d) -> Some (`Type d.qualified)
  | Named (d, l) ->
    let used = List.filter (fun (p, _) -> mem p d.used) (List.combine d.params l) in
    List.find_map (fun (_, t) -> obstacle trait ~has t) used
  | Builtin _ | Tuple _ | Arrow _ -> List.find_map (obstacle trait ~has) (children ty)

let last_name path = List.hd (List.rev (String.split_on_char ':' path))

(* The name of a trait of the standard library, even if its whole path was given. *)
let standard path =
  if List.exists (fun crate -> Names.starts_with crate path) [ "std::"; "core::"; "::std::"; "::core::" ] then last_name path
  else path

(* The traits that a type derives without a request of the build script, in the order of the alphabet. *)
let by_default ~is_constant ~has types =
  let fits trait = List.for_all (fun t -> obstacle trait ~has:(has trait) t = None) types in
  if List.exists has_root types then [ "Debug" ]
  else List.sort compare ([ "Clone"; "Debug"; "PartialEq" ] @ List.filter fits [ "Eq"; "Hash" ] @ if is_constant then [ "Copy" ] else [])

(* Adds what the build script asks for. `tells_serde part` says whether an attribute may keep serde away from the part. *)
let with_asked ~place ~has ~tells_serde asked parts derives =
  List.iter (fun path ->
    let refuse part what remedy =
      failwith (Printf.sprintf "`derive` cannot give `%s` to `%s`: in `%s` is %s; %s" path place part what remedy) in
    let trait = standard path in
    if List.mem trait [ "Clone"; "Copy"; "Eq"; "Hash"; "Ord"; "PartialEq"; "PartialOrd" ] then begin
      let by_hand = if trait = "Copy" then "leave the trait out" else "leave the trait out, or implement it in the crate" in
      List.iter (fun (part, ty) -> match obstacle trait ~has:(has trait) ty with
        | None -> ()
        | Some `Root -> refuse part "a root" by_hand
        | Some `Float -> refuse part "a float" by_hand
        | Some `Pointer -> refuse part "a string or a vector" by_hand
        | Some (`Type t) -> refuse part ("`" ^ t ^ "`, which does not derive it") "`derive` it there, too") parts
    end
    else if List.mem (last_name path) [ "Serialize"; "Deserialize" ] then
      List.iter (fun (part, ty) ->
        if obstacle trait ~has:(fun _ -> true) ty = Some `Root && not (tells_serde part) then
          refuse part "a root, which is only valid in this process"
            (Printf.sprintf "call `attribute(\"%s\", \"#[serde(…)]\")` with `skip` or `with`, or implement the trait in the crate" part))
        parts) asked;
  derives @ List.filter (fun path -> not (List.mem (standard path) derives)) asked

(* Which traits Rust types derive. `asked` returns those that the build script wants for the type of this name. The traits of
   Rust types that `with` names are not known here. They have what is asked for. *)
let derive ~asked ~tells_serde types exceptions =
  let owned = List.filter (fun d -> d.rust = Own) types in
  let has trait d = d.rust = Own && (List.mem trait d.derives || List.mem trait (List.map standard (asked d.qualified))) in
  let may_have trait d = d.rust <> Own || has trait d in
  let is_constant d = match d.kind with
    | Variant l | Row l -> List.for_all (fun c -> c.parts = Positional []) l
    | Opaque | Record _ | Unboxed _ -> false in
  List.iter (fun d -> d.derives <- [ "Eq"; "Hash" ]) owned;
  fixed_point (fun d ->
    let derives = by_default ~is_constant:(is_constant d) ~has (kind_types d.kind) in
    let change = derives <> d.derives in
    d.derives <- derives;
    change) owned;
  List.iter (fun d ->
    d.derives <- with_asked ~place:d.qualified ~has:may_have ~tells_serde (asked d.qualified) (named_kind d.qualified d.kind) d.derives) owned;
  List.iter (fun e ->
    let parts = named_parts e.exception_qualified e.exception_parts in
    e.exception_derives <- by_default ~is_constant:false ~has (parts_types e.exception_parts)
      |> with_asked ~place:e.exception_qualified ~has:may_have ~tells_serde (asked e.exception_qualified) parts) exceptions

let run all =
  List.iter (fun d -> match d.kind with
    | Unboxed (_, parts) when List.exists (fun t -> floatness t = `Unknown) (parts_types parts) ->
      without_conversion d "an unboxed type that may be a float" ~keep_fields:false
    | _ -> ()) all;
  (* A root is made of a value, and a number in a row of numbers is none. *)
  fixed_point (fun d ->
    let is_number ty = floatness ty <> `No and is_root = is_root ~to_ocaml:true in
    let change = match d.kind with
      | Record (l, `Flat) -> List.exists (fun f -> is_root f.ty) l
      | Unboxed (_, parts) -> List.exists (fun ty -> is_number ty && is_root ty) (parts_types parts)
      | Record (_, (`Regular | `Regular_of_floats)) | Variant _ | Row _ | Opaque -> false in
    if change then without_conversion d "a float of a type that stays in OCaml" ~keep_fields:false;
    change) all;
  let irregular = List.filter (fun d -> kind_types d.kind <> [] && is_irregular d) all in
  List.iter (fun d -> without_conversion d "a recursive type whose parameters change" ~keep_fields:(is_record d)) irregular;
  fixed_point (fun d ->
    let change = d.rust <> Marker_only && not d.has_markers && has_parameter_under_root d in
    if change && d.is_of_function then d.has_markers <- true
    else if change then without_conversion d "a parameter occurs in a value that stays in OCaml" ~keep_fields:(is_record d);
    change) all;
  let owned = List.filter (fun d -> d.rust <> Marker_only) all in
  fixed_point (fun d ->
    let occur = List.concat_map used_vars (kind_types d.kind) in
    let used = List.filter (fun p -> mem p occur) d.params in
    let change = List.length used <> List.length d.used in
    d.used <- used;
    change) owned;
  fixed_point (fun d ->
    let change = (not d.has_root) && (d.has_markers || List.exists has_root (kind_types d.kind)) in
    if change then d.has_root <- true;
    change) owned;
  List.iter (fun d ->
    let mine = inline_reachable d in
    if List.memq d mine then d.circle <- List.filter (fun e -> List.memq d (inline_reachable e)) mine) owned
