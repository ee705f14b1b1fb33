export { createImports } from './imports.ts';
export type { Imports, ImportsOptions } from './imports.ts';
export type { DryRun, Import, ImportWish, NewImport } from './manage-imports.ts';
export type { ImportGroup, ImportGroupItem, NewImportGroup } from './groups/manage-groups.ts';
export type { LinkSource } from './links/parse-source-link.ts';
export type { HereLink, ResolvedLinks, WantedLinks } from './links/resolve-links.ts';
export { parseMapping } from './people/claim-people.ts';
export type { ImportedAuthor, MappedPerson } from './people/claim-people.ts';
export type { ImportOptions, Progress } from './context/run-context.ts';
export { importEntities } from './schema/import-schema.ts';
export type { ImportState, Phase, ProblemRow } from './schema/import-schema.ts';
export type { SourceKind } from './schema/source-kind.ts';
/** Loaded when first needed. */
export const exportDump = async (...given: Parameters<typeof import('./export/export-dump.ts').exportDump>) =>
  (await import('./export/export-dump.ts')).exportDump(...given);
