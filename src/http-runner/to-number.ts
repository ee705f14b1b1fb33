const limit = BigInt(Number.MAX_SAFE_INTEGER);

/** An int64 as a number. Beyond what a number holds nothing exists here, and every such value means the same. */
export function toNumber(value: bigint): number {
  return Number(value > limit ? limit : value < -limit ? -limit : value);
}
