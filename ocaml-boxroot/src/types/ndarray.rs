//! Bigarrays as arrays of the crate `ndarray`: views and copies.

use super::bigarray::{own, own_value, sealed, Bigarray, BigarrayCell, Rust};
use super::memory::collect;
use super::{FromOCaml, Made, ToOCaml};
use crate::{Boxroot, ConversionError, ConversionErrorKind, DomainLock, RootRef, Value};
use ::ndarray::{Array, ArrayBase, ArrayView, Data, Dimension, Shape, ShapeBuilder};

fn shape<D: sealed::Dimensions, L: sealed::Layout>(sizes: &[usize]) -> Shape<D::Ndarray> {
    let mut shape = D::Ndarray::zeros(sizes.len());
    shape.slice_mut().copy_from_slice(sizes);
    shape.into_shape_with_order().set_f(is_fortran::<L>())
}

fn is_fortran<L: sealed::Layout>() -> bool {
    L::FIRST == 1
}

/// Requires the feature `ndarray`.
impl<'l, D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout>
    Value<'l, Bigarray<D, A, B, L>>
{
    /// The cells as an array of the crate `ndarray`, with the same dimensions. Indices begin with
    /// 0, even in OCaml's `fortran_layout`.
    ///
    /// # Panics
    ///
    /// Same as [`cells`](Value::cells), and if the product of the nonzero dimensions overflows.
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    #[track_caller]
    pub fn view(self) -> ArrayView<'l, BigarrayCell<B::Element>, D::Ndarray> {
        array_of::<D, L, _>(&self.dimensions(), self.cells())
    }
}

#[track_caller]
fn array_of<'l, D: sealed::Dimensions, L: sealed::Layout, C>(
    sizes: &[usize],
    cells: &'l [C],
) -> ArrayView<'l, C, D::Ndarray> {
    ArrayView::from_shape(shape::<D, L>(sizes), cells).expect("a bigarray of a wrong size")
}

/// Requires the feature `ndarray`.
impl<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout>
    RootRef<Bigarray<D, A, B, L>>
{
    /// The [cells](RootRef::cells) as an array of the crate `ndarray`; see [`Value::view`]. The
    /// view lives as long as the root is borrowed.
    ///
    /// # Panics
    ///
    /// Same as [`Value::view`].
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::{array, Array2, Axis};
    /// use ocaml_boxroot::bigarray::{Bigarray, OCamlArray2};
    /// use ocaml_boxroot::{Boxroot, ToOCaml};
    ///
    /// # ocaml_boxroot::macro_support::example(|lock| {
    /// let matrix = array![[1., 2., 3.], [4., 5., 6.]];
    /// let copy: Boxroot<OCamlArray2<f64>> = matrix.to_ocaml(lock)?;
    /// copy.view(lock).column(1).iter().for_each(|cell| cell.set(0.));
    /// assert_eq!(copy.view(lock)[[1, 2]].get(), 6.);
    /// let copy: Array2<f64> = copy.to_rust(lock)?;
    /// assert_eq!(copy.sum_axis(Axis(1)), array![4., 10.]);
    ///
    /// let moved: Boxroot<OCamlArray2<f64>> = Bigarray::from_ndarray(lock, matrix)?;
    /// assert_eq!(moved.get(lock).dimensions(), [2, 3]);
    /// # Ok(()) });
    /// ```
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    #[track_caller]
    pub fn view(&self, lock: &DomainLock) -> ArrayView<'_, BigarrayCell<B::Element>, D::Ndarray> {
        array_of::<D, L, _>(&self.get(lock).dimensions(), self.cells(lock))
    }
}

/// An array whose memory order is that of the bigarray.
struct Ordered<E, N>(Array<E, N>);

impl<E, N: Dimension> AsMut<[E]> for Ordered<E, N> {
    fn as_mut(&mut self) -> &mut [E] {
        self.0.as_slice_memory_order_mut().unwrap_or_default()
    }
}

/// Requires the feature `ndarray`.
impl<D: sealed::Dimensions, A, B: sealed::Known<A>, L: sealed::Layout> Bigarray<D, A, B, L> {
    /// Like [`from_owner`](Bigarray::from_owner), for an array of the crate `ndarray`. Its elements
    /// are copied only if they are not in the order of the layout.
    ///
    /// # Errors
    ///
    /// Those of [`from_owner`](Bigarray::from_owner), and of `to_ocaml` if elements are copied.
    ///
    /// # Panics
    ///
    /// If there are more than 16 dimensions.
    ///
    /// # Examples
    ///
    /// See [`view`](RootRef::view).
    #[cfg_attr(docsrs, doc(cfg(feature = "ndarray")))]
    #[track_caller]
    pub fn from_ndarray(
        lock: &mut DomainLock,
        array: Array<Rust<A, B>, D::Ndarray>,
    ) -> Result<Boxroot<Self>, ConversionError> {
        let is_ordered = match is_fortran::<L>() {
            true => array.t().is_standard_layout(),
            false => array.is_standard_layout(),
        };
        if !is_ordered {
            return array.to_ocaml(lock);
        }
        let sizes = array.shape().to_vec();
        own(lock, Ordered(array), Some(&sizes))
    }
}

/// Panics if there are more than 16 dimensions.
impl<D, A, B, L, S> ToOCaml<Bigarray<D, A, B, L>> for ArrayBase<S, D::Ndarray>
where
    D: sealed::Dimensions,
    B: sealed::Known<A>,
    L: sealed::Layout,
    S: Data<Elem = Rust<A, B>>,
{
    fn to_value<'l>(&self, lock: &'l mut DomainLock) -> Made<'l, Bigarray<D, A, B, L>> {
        if !self.iter().all(|element| <B::Element as sealed::Element>::fits(*element)) {
            return Err(ConversionError::new(ConversionErrorKind::OutOfRange));
        }
        let elements = match is_fortran::<L>() {
            true => collect(self.t().iter().copied()),
            false => collect(self.iter().copied()),
        }?;
        own_value(lock, elements, Some(self.shape()))
    }
}

impl<D, A, B, L> FromOCaml<Bigarray<D, A, B, L>> for Array<Rust<A, B>, D::Ndarray>
where
    D: sealed::Dimensions,
    B: sealed::Known<A>,
    L: sealed::Layout,
{
    fn from_ocaml<'l>(
        value: Value<'l, Bigarray<D, A, B, L>>,
        _: &'l DomainLock,
    ) -> Result<Self, ConversionError> {
        let elements = collect(value.cells().iter().map(BigarrayCell::get))?;
        Array::from_shape_vec(shape::<D, L>(&value.dimensions()), elements)
            .map_err(|_| ConversionError::new(ConversionErrorKind::Mismatch))
    }

    with_form!(Bigarray<D, A, B, L>);
}
