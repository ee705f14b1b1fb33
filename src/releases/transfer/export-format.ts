import { z } from 'zod';
import { limits } from '../limits.ts';

const time = z.iso.datetime();

/** An entry of `releases.json`; its texts must also follow the rules of the form. */
const exportedRelease = z.object({
  tag: z.string().min(1).max(300),
  target: z.string().max(300),
  tagMessage: z.string().max(20_000),
  title: z.string().max(1_000),
  body: z.string().max(limits.bodyBytes),
  isDraft: z.boolean(),
  isPrerelease: z.boolean(),
  /** Whether it never is the latest release; omitted if not. */
  staysBehind: z.literal(true).optional(),
  /** A username, or the name of an author without an account. */
  author: z.string().max(200).nullable(),
  createdAt: time,
  updatedAt: time,
  publishedAt: time.nullable(),
  files: z
    .array(
      z.object({
        name: z.string().max(1_000),
        bytes: z.int().min(0),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        downloads: z.int().min(0),
        createdAt: time,
      }),
    )
    .max(limits.filesPerRelease),
});

export type ExportedRelease = z.infer<typeof exportedRelease>;

/** A part of the list; further ones are `releases-2.json`, `releases-3.json`, …. */
export const releasesFile = z.object({ format: z.literal(1), releases: z.array(exportedRelease) });

export const releasesPerFile = 200;

export const releaseListFile = (part: number): string => (part === 1 ? 'releases.json' : `releases-${part}.json`);

/** Path of the content of a file in a bundle; files with the same content share it. */
export const releaseContentFile = (sha256: string): string => `releases/${sha256}`;
