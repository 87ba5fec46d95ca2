"""Kernels for the CPU: WebAssembly, made when it is first needed.

planning/         what a call decides before anything is printed
  plan.py         a program in a call: which kernels, by keys of their structure (kernel_plan.py says what those are)
  parameters.py   the numbers that they are told; strategy.py: tiles, several points at once, values that are kept
  straight.py     indices that move in even steps as strides
  rows.py         rows that need no doubles
  margins.py      windows that are read from a copy with margins; small_windows.py: whose sums take fewer products
  sharing.py      what threads share out
module.py         the kernel of a launch: bytes, or text for people (text.py)
steps.py          what kernels do at their points, from the terms of their steps (step_terms.py)
reductions.py     values that come together, some in one pass (passes.py); columns.py: of many columns, row by row;
                 float_sums.py: in single floats; arg_reductions.py: places of the largest
lanes.py          how many points at once
copies.py         copies with margins
tiles/            sums of products in tiles
  contraction.py  blocks and tiles, of panels
  panels.py       elements in panels, as they lie or one by one; places.py: by tables of places
  winograd.py     windows of 3 x 3 points, whose products are of sums (window_sums.py)
  walks.py        several lines as if they were one
printer.py        lines as loops; hoisting.py: what does not change along them
elements.py       elements read, at their addresses (addresses.py); stores.py: and stored
scalars/          formulas of numbers as instructions
  formulas.py     terms (terms.py) as instructions; integers.py: of whole numbers, float_bits.py: of bits
  values.py       what is done to values on the stack, at one point or several
  functions.py    functions of floats as formulas; helpers.py: others
statements.py     what routines (routines.py) and bodies (bodies.py) do
writing.py        instructions put at the end of a function
encoder.py        functions as the bytes of a module; instructions.py: what there is

How a device runs them. `plan_wasm(op, program, call, wanted, types)` answers a `WasmLaunch` for each kernel of a
program, None for one that does not run; types[slot] says how the slot's elements lie in memory, where float16 takes
32 bits and what a float32 program keeps in between may be float64. `why` is "", or why there is none. Launches of an
op whose keys are equal share what `wasm_kernel(launch, relaxed)` makes (relaxed: for an engine with relaxed SIMD),
whose `given` functions take doubles and answer one. `kernel_bytes(kernel, shared)` is a module that imports
`kernels.memory` and those functions as `kernels.NAME`, and exports `run(block)`. The block of parameters lies in the
memory, 8-aligned: 16 bytes for a fault, then 8 for each parameter n, an int32 or float64 as kinds[n] says. The first
slots.length parameters are addresses in bytes: that of a slot's storage plus shifts[n]; the others are values[n], or
where another call runs the same plan, kernel_parameters(launch, call.env)[n]. From `seeds` on stand seed0, seed1 and
the call's number. The caller sets the fault's first int32 to 0, and `run` answers it afterwards: 0, 1 for a place (the
second int32) off an axis of a length (the third), 2 for what 32 bits do not hold. A kernel goes on after a fault, and
never traps. Slots of `zeroed` hold zeros before. Slot -1 is `scratch` bytes of memory, 16-aligned, whose content is
nobody's.  The launches in `more` compute other points of the same kernel: they run with it."""
