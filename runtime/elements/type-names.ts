// Types of elements by their names in torch: torch.float32 and the others.

/**
 * The type of 32-bit floating-point numbers, which new tensors have.
 *
 * @example
 * torch.tensor([1, 2]).dtype === torch.float32  // true
 */
export const float32 = "float32";
/**
 * The type of 16-bit floating-point numbers with 11 significant bits: computed in 32 bits and rounded when stored.
 *
 * @example
 * torch.finfo(torch.float16).max  // 65504
 */
export const float16 = "float16";
/**
 * The type of 16-bit floating-point numbers with float32's range and 8 significant bits: computed in 32 bits and rounded when stored.
 *
 * @example
 * torch.tensor([1.01], { dtype: torch.bfloat16 }).float()  // [1.00781]
 */
export const bfloat16 = "bfloat16";
/**
 * The type of 64-bit floating-point numbers; on the CPU only.
 *
 * @example
 * await torch.tensor(0.1, { dtype: torch.float64 }).item() === 0.1  // true
 * await torch.tensor(0.1, { dtype: torch.float32 }).item() === 0.1  // false
 */
export const float64 = "float64";
/**
 * The type of whole numbers of 64 bits, that of indices; on a GPU they have 32 bits, and what does not fit is an error.
 *
 * @example
 * torch.arange(3).dtype  // "int64"
 * torch.tensor([1, 2]).argmax().dtype  // "int64"
 */
export const int64 = "int64";
/**
 * The type of whole numbers of 32 bits, from -2147483648 to 2147483647.
 *
 * @example
 * torch.tensor([1.9, -1.9]).to(torch.int32)  // [1, -1]
 */
export const int32 = "int32";
/**
 * The type of whole numbers of 16 bits, from -32768 to 32767.
 *
 * @example
 * torch.iinfo(torch.int16).max  // 32767
 */
export const int16 = "int16";
/**
 * The type of whole numbers of 8 bits, from -128 to 127.
 *
 * @example
 * torch.tensor([127], { dtype: torch.int8 }).add(1)  // [-128]
 */
export const int8 = "int8";
/**
 * The type of whole numbers of 32 bits from 0 to 4294967295.
 *
 * @example
 * torch.iinfo(torch.uint32).max  // 4294967295
 */
export const uint32 = "uint32";
/**
 * The type of whole numbers of 16 bits from 0 to 65535.
 *
 * @example
 * torch.iinfo(torch.uint16).max  // 65535
 */
export const uint16 = "uint16";
/**
 * The type of whole numbers of 8 bits from 0 to 255, that of pictures.
 *
 * @example
 * torch.tensor([255], { dtype: torch.uint8 }).add(1)  // [0]
 */
export const uint8 = "uint8";
/**
 * The type of truth values.
 *
 * @example
 * torch.tensor([0, 2], { dtype: torch.bool })  // [false, true]
 */
export const bool = "bool";
/**
 * Another name of int64.
 *
 * @example
 * torch.zeros([2], { dtype: torch.long }).dtype  // "int64"
 */
export const long = "int64";
/**
 * Another name of int32.
 *
 * @example
 * torch.zeros([2], { dtype: torch.int }).dtype  // "int32"
 */
export const int = "int32";
/**
 * Another name of int16.
 *
 * @example
 * torch.zeros([2], { dtype: torch.short }).dtype  // "int16"
 */
export const short = "int16";
/**
 * The type of complex numbers: two float32, the real and the imaginary part.
 *
 * @example
 * torch.view_as_real(torch.tensor([1, 2], { dtype: torch.complex64 }))  // [[1, 0], [2, 0]]
 */
export const complex64 = "complex64";
/**
 * Another name of complex64.
 *
 * @example
 * torch.zeros([2], { dtype: torch.cfloat }).dtype  // "complex64"
 */
export const cfloat = "complex64";
/**
 * Another name of float32.
 *
 * @example
 * torch.zeros([2], { dtype: torch.float }).dtype  // "float32"
 */
export const float = "float32";
/**
 * Another name of float16.
 *
 * @example
 * torch.zeros([2], { dtype: torch.half }).dtype  // "float16"
 */
export const half = "float16";
/**
 * Another name of float64.
 *
 * @example
 * torch.zeros([2], { dtype: torch.double }).dtype  // "float64"
 */
export const double = "float64";
