const limit = BigInt(Number.MAX_SAFE_INTEGER);

/** Converts an int64 to a number. No id here exceeds the range of a number, so all larger values are equivalent. */
export function toNumber(value: bigint): number {
  return Number(value > limit ? limit : value < -limit ? -limit : value);
}
