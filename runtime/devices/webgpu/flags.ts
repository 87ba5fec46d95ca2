// The numbers of WebGPU's flags: a worker or a stub device may lack the global objects that name them.

export const MAP_READ = 1,
  COPY_SRC = 4,
  COPY_DST = 8,
  UNIFORM = 64,
  STORAGE = 128;
export const COMPUTE = 4;
export const READ = 1;
