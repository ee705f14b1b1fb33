/**
 * What an administrator is told about an error: for a store that does not answer, why; people are only told that it
 * does not.
 */
export function describeStoreFailure(error: unknown): string {
  const { cause } = error as { cause?: { name?: string; explanation?: string } };
  if (cause?.name === 'S3Failure' && cause.explanation !== undefined) return cause.explanation;
  return error instanceof Error ? error.message : String(error);
}
