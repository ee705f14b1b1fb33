import { invalid } from '../../kernel/index.ts';

/** An export file to read. */
export interface ImportFile {
  /** File name within its folder. */
  name: string;
  /** Null if it is larger than `maxBytes`; it is then not read. */
  read(maxBytes: number): Promise<Buffer | null>;
}

/** An export in a bundle. Its content is untrusted. */
export interface ImportSource {
  /** A file by its path; null if it is absent or not a regular file. */
  file(path: string): Promise<ImportFile | null>;
  /** Regular files of a folder. Throws `parcel_unreadable` for more than `maxFiles`. */
  files(folder: string, maxFiles: number): Promise<ImportFile[]>;
}

/** Limits of an import: far above what people write, and small enough to bound the work. */
export const importLimits = {
  issues: 150_000,
  /** JSON and Markdown of each issue, and further parts of long logs. */
  files: 400_000,
  /** Per file: longer logs continue in another file. */
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

/** The error for an unreadable import; nothing was changed. */
export const unreadable = (file: string, why: string) =>
  invalid('parcel_unreadable', `The issues in this bundle cannot be read: ${file} ${why}. Nothing was imported.`);

/** Parses a file as JSON. Throws `parcel_unreadable`. */
export async function readJson(file: ImportFile, path: string): Promise<{ value: unknown; bytes: Buffer }> {
  const bytes = await file.read(importLimits.fileBytes);
  if (bytes === null) throw unreadable(path, 'is too large');
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)), bytes };
  } catch {
    throw unreadable(path, 'is not JSON in UTF-8');
  }
}
