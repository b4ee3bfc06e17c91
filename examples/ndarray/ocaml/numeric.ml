open Bigarray

exception Singular of { column : int }

let solve (a : (float, float64_elt, c_layout) Array2.t) (b : (float, float64_elt, c_layout) Array1.t) =
  let n = Array1.dim b in
  for k = 0 to n - 1 do
    let pivot = ref k in
    for i = k + 1 to n - 1 do
      if abs_float a.{i, k} > abs_float a.{!pivot, k} then pivot := i
    done;
    if a.{!pivot, k} = 0. then raise (Singular { column = k });
    for j = k to n - 1 do
      let x = a.{k, j} in
      a.{k, j} <- a.{!pivot, j};
      a.{!pivot, j} <- x
    done;
    let x = b.{k} in
    b.{k} <- b.{!pivot};
    b.{!pivot} <- x;
    for i = k + 1 to n - 1 do
      let factor = a.{i, k} /. a.{k, k} in
      for j = k to n - 1 do
        a.{i, j} <- a.{i, j} -. (factor *. a.{k, j})
      done;
      b.{i} <- b.{i} -. (factor *. b.{k})
    done
  done;
  for i = n - 1 downto 0 do
    for j = i + 1 to n - 1 do
      b.{i} <- b.{i} -. (a.{i, j} *. b.{j})
    done;
    b.{i} <- b.{i} /. a.{i, i}
  done

let smooth n (samples : (float, float32_elt, c_layout) Array1.t) =
  let length = Array1.dim samples in
  Array1.init float32 c_layout length (fun i ->
      let first = max 0 (i - n) and last = min (length - 1) (i + n) in
      let sum = ref 0. in
      for j = first to last do
        sum := !sum +. samples.{j}
      done;
      !sum /. float_of_int (last - first + 1))
