import { EntitySchema } from 'typeorm';

/** A row of `releases`. Times are epoch milliseconds. */
export interface ReleaseRow {
  id: string;
  repositoryId: string;
  /** Without `refs/tags/`; unique in the repository. */
  tag: string;
  /** Object id of the tag when the release was published; null for a draft that was never published. */
  tagOid: string | null;
  /** Commit of the future tag of a draft: a branch, a tag or a commit id. */
  target: string;
  /** Message of the annotated tag that publishing creates; '' for a lightweight one. */
  tagMessage: string;
  /** Empty if the tag is the title. */
  title: string;
  body: string;
  isDraft: boolean;
  isPrerelease: boolean;
  /** Whether it never is the latest release, such as a fix of an older version. */
  staysBehind: boolean;
  authorId: string | null;
  /** Name of an author without an account. */
  authorName: string | null;
  /** Identifier at the forge from which it was imported; null if it was created here. */
  origin: string | null;
  /** Number of edits. */
  revision: number;
  createdAt: number;
  updatedAt: number;
  /** Null for a draft. */
  publishedAt: number | null;
  /** Sort key of lists: the time of publication, or of creation for a draft. */
  listedAt: number;
}

export const releaseSchema = new EntitySchema<ReleaseRow>({
  name: 'release',
  tableName: 'releases',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    tag: { type: 'text' },
    tagOid: { name: 'tag_oid', type: 'text', nullable: true },
    target: { type: 'text' },
    tagMessage: { name: 'tag_message', type: 'text' },
    title: { type: 'text' },
    body: { type: 'text' },
    isDraft: { name: 'is_draft', type: 'boolean' },
    isPrerelease: { name: 'is_prerelease', type: 'boolean' },
    staysBehind: { name: 'stays_behind', type: 'boolean' },
    authorId: { name: 'author_id', type: 'text', nullable: true },
    authorName: { name: 'author_name', type: 'text', nullable: true },
    origin: { type: 'text', nullable: true },
    revision: { type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
    publishedAt: { name: 'published_at', type: 'integer', nullable: true },
    listedAt: { name: 'listed_at', type: 'integer' },
  },
});

/** A file of a release; its content is the object `fileKey(id)`. */
export interface ReleaseFile {
  id: string;
  releaseId: string;
  repositoryId: string;
  /** Unique in the release. */
  name: string;
  bytes: number;
  /** In hex. */
  sha256: string;
  downloads: number;
  uploaderId: string | null;
  /** As for a release. */
  origin: string | null;
  createdAt: number;
}

export const releaseFileSchema = new EntitySchema<ReleaseFile>({
  name: 'releaseFile',
  tableName: 'release_files',
  columns: {
    id: { type: 'text', primary: true },
    releaseId: { name: 'release_id', type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text' },
    name: { type: 'text' },
    bytes: { type: 'integer' },
    sha256: { type: 'text' },
    downloads: { type: 'integer' },
    uploaderId: { name: 'uploader_id', type: 'text', nullable: true },
    origin: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** Counts of a repository, maintained by triggers. */
export interface ReleaseCounts {
  repositoryId: string;
  published: number;
  drafts: number;
  /** Bytes of all files. */
  bytes: number;
}

export const releaseCountsSchema = new EntitySchema<ReleaseCounts>({
  name: 'releaseCounts',
  tableName: 'release_counts',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    published: { type: 'integer' },
    drafts: { type: 'integer' },
    bytes: { type: 'integer' },
  },
});
