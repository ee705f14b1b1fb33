import { invalid } from '../../kernel/index.ts';

/** A file of an export that is read. */
export interface ImportFile {
  /** Its name in the folder. */
  name: string;
  /** Null for one that is larger than `maxBytes`; then it is not read. */
  read(maxBytes: number): Promise<Buffer | null>;
}

/** An export in a bundle. Its content is untrusted. */
export interface ImportSource {
  /** A file by its path; null when it is absent, or not a plain file. */
  file(path: string): Promise<ImportFile | null>;
  /** The plain files of a folder. Refuses `parcel_unreadable` for more than `maxFiles`. */
  files(folder: string, maxFiles: number): Promise<ImportFile[]>;
}

/** What an import takes at most; far above what people write, and small enough that nothing runs away. */
export const importLimits = {
  issues: 150_000,
  /** JSON and Markdown of each, and further parts of long logs. */
  files: 400_000,
  /** Of one file: a log goes on in another one before it is so large. */
  fileBytes: 32 * 1024 * 1024,
  entriesPerIssue: 100_000,
  entries: 5_000_000,
  attachmentsPerIssue: 10_000,
  attachmentBytes: 64 * 1024 * 1024,
  revisionsPerEntry: 200,
  labels: 1_000,
  milestones: 1_000,
  highestNumber: 1_000_000_000,
} as const;

/** The refusal of what cannot be imported; nothing was changed. */
export const unreadable = (file: string, why: string) =>
  invalid('parcel_unreadable', `The issues in this bundle cannot be read: ${file} ${why}. Nothing was imported.`);

/** A file as JSON. Refuses `parcel_unreadable`. */
export async function readJson(file: ImportFile, path: string): Promise<{ value: unknown; bytes: Buffer }> {
  const bytes = await file.read(importLimits.fileBytes);
  if (bytes === null) throw unreadable(path, 'is too large');
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), bytes };
  } catch {
    throw unreadable(path, 'is not JSON in UTF-8');
  }
}
