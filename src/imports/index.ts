export { createImports } from './imports.ts';
export type { Imports } from './imports.ts';
export type { Import, NewImport } from './manage-imports.ts';
export type { ImportGroup, ImportGroupItem, NewImportGroup } from './groups/manage-groups.ts';
export type { HereLink, WantedLinks } from './links/resolve-links.ts';
export { parseMapping } from './people/claim-people.ts';
export type { ImportedAuthor } from './people/claim-people.ts';
export type { ImportOptions } from './context/run-context.ts';
export { importEntities } from './schema/import-schema.ts';
export type { SourceKind } from './schema/source-kind.ts';
/** Loaded when first needed. */
export const exportDump = async (...given: Parameters<typeof import('./export/export-dump.ts').exportDump>) =>
  (await import('./export/export-dump.ts')).exportDump(...given);
