/**
 * The administrator's description of an error: for an unavailable store, the cause; users only learn that it is
 * unavailable.
 */
export function describeStoreFailure(error: unknown): string {
  const { cause } = error as { cause?: { name?: string; explanation?: string } };
  if (cause?.name === 'S3Failure' && cause.explanation !== undefined) return cause.explanation;
  return error instanceof Error ? error.message : String(error);
}
