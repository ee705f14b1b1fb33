export { createImports } from './imports.ts';
export type { Imports, ImportsOptions } from './imports.ts';
export type { DryRun, Import, ImportWish, NewImport } from './manage-imports.ts';
export type { ImportOptions, Progress } from './context/run-context.ts';
export { importEntities } from './schema/import-schema.ts';
export type { ImportState, Phase, ProblemRow, SourceKind } from './schema/import-schema.ts';
