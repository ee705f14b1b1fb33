import { z } from 'zod';
import type { ForeignFile, ForeignRelease } from '../../releases/index.ts';

/** Supported release APIs. Forgejo's and Hearth's own are those of Gitea. */
export type ForgeKind = 'github' | 'gitea' | 'gitlab';

/** A file with the URL of its content. */
export interface RemoteFile extends ForeignFile {
  url: string;
}

export interface RemoteRelease {
  release: ForeignRelease;
  files: RemoteFile[];
}

const id = z.union([z.int(), z.string().max(100)]);
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const size = z
  .int()
  .min(0)
  .nullish()
  .transform((value) => value ?? null);
const files = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .array(shape)
    .nullish()
    .transform((value) => value ?? []);

const giteaFile = z.object({
  id,
  name: z.string(),
  size,
  url: text,
  browser_download_url: z.string(),
  created_at: text,
  updated_at: text,
  digest: text,
});
const giteaRelease = z.object({
  id,
  tag_name: z.string(),
  target_commitish: text,
  name: text,
  body: text,
  draft: flag,
  prerelease: flag,
  created_at: text,
  published_at: text,
  author: z.object({ login: text }).nullish(),
  assets: files(giteaFile),
});
const gitlabFile = z.object({ id, name: z.string(), url: z.string(), direct_asset_url: text });
const gitlabRelease = z.object({
  tag_name: z.string(),
  name: text,
  description: text,
  created_at: text,
  released_at: text,
  author: z.object({ username: text }).nullish(),
  assets: z.object({ links: files(gitlabFile) }).nullish(),
});

/** Epoch milliseconds; null for an invalid time. One in the future is now: it would be the newest for ever. */
function timeOf(value: string, now: number): number | null {
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.min(at, now);
}

/**
 * Parses a release from GitHub, Gitea or GitLab; null if it is invalid.
 * @param endpoint URL of the list, the prefix of each origin
 */
export function readRelease(kind: ForgeKind, row: unknown, endpoint: string, now: number): RemoteRelease | null {
  return kind === 'gitlab' ? readGitlab(row, endpoint, now) : readGitea(kind, row, endpoint, now);
}

function readGitea(kind: ForgeKind, row: unknown, endpoint: string, now: number): RemoteRelease | null {
  const { data } = giteaRelease.safeParse(row);
  if (data === undefined) return null;
  const createdAt = timeOf(data.created_at, now) ?? now;
  return {
    release: {
      origin: `${endpoint}/${data.id}`,
      tag: data.tag_name,
      target: data.target_commitish,
      title: data.name === data.tag_name ? '' : data.name,
      body: data.body,
      isDraft: data.draft,
      isPrerelease: data.prerelease,
      author: data.author?.login || null,
      createdAt,
      publishedAt: timeOf(data.published_at, now),
    },
    files: data.assets.map((file) => ({
      origin: [`${endpoint}/${data.id}/assets/${file.id}`, file.size, file.updated_at || file.created_at].join(' '),
      name: file.name,
      bytes: file.size,
      sha256: /^sha256:([0-9a-f]{64})$/.exec(file.digest)?.[1] ?? null,
      createdAt: timeOf(file.created_at, now) ?? createdAt,
      // GitHub's other URL does not accept tokens.
      url: kind === 'github' && file.url !== '' ? file.url : file.browser_download_url,
    })),
  };
}

function readGitlab(row: unknown, endpoint: string, now: number): RemoteRelease | null {
  const { data } = gitlabRelease.safeParse(row);
  if (data === undefined) return null;
  const createdAt = timeOf(data.created_at, now) ?? now;
  const origin = `${endpoint}/${encodeURIComponent(data.tag_name.toWellFormed())}`;
  return {
    release: {
      origin,
      tag: data.tag_name,
      target: '',
      title: data.name === data.tag_name ? '' : data.name,
      body: data.description,
      isDraft: false,
      isPrerelease: false,
      author: data.author?.username || null,
      createdAt,
      publishedAt: timeOf(data.released_at, now),
    },
    files: (data.assets?.links ?? []).map((file) => ({
      origin: `${origin}/assets/${file.id} ${file.url}`,
      name: file.name,
      bytes: null,
      sha256: null,
      createdAt,
      url: file.direct_asset_url || file.url,
    })),
  };
}
