/** Pages of `docs/` about the project itself: they are not part of the program. */
export const contributorDocuments: ReadonlySet<string> = new Set([
  'decisions',
  'gitea-operations',
  'performance',
  'testing',
  'translating',
]);
