import { EntitySchema } from 'typeorm';

/** A row of `ci_artifacts`: files that jobs of a run share under one name. */
export interface ArtifactRow {
  id: number;
  runId: number;
  repositoryId: string;
  attempt: number;
  /** The task that started the upload. */
  taskId: number;
  name: string;
  /** `zip`: one archive as uploaded; `files`: files uploaded one by one. */
  form: 'zip' | 'files';
  /** Media type of a single file, which is stored as uploaded; null for archives. */
  mediaType: string | null;
  /** Path below the folder of artifacts. */
  file: string;
  /** `removed`: deleted or expired; the row is a record. */
  state: 'uploading' | 'ready' | 'removed';
  sizeBytes: number;
  /** SHA-256 of a zip, in hex. */
  digest: string | null;
  createdAt: number;
  expiresAt: number;
}

/** A row of `ci_artifact_files`. */
export interface ArtifactFileRow {
  artifactId: number;
  /** Path in the artifact, with forward slashes; validated. */
  path: string;
  /** Path below the folder of the artifact, chosen by the server. */
  file: string;
  /** Whether it is stored as compressed by the client. */
  isGzipped: boolean;
  /** Stored size, and number of bytes received so far. */
  storedBytes: number;
  receivedBytes: number;
  /** Size of the unpacked content. */
  sizeBytes: number;
}

export const artifactSchema = new EntitySchema<ArtifactRow>({
  name: 'ciArtifact',
  tableName: 'ci_artifacts',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    runId: { name: 'run_id', type: 'integer' },
    repositoryId: { name: 'repository_id', type: 'text' },
    attempt: { type: 'integer' },
    taskId: { name: 'task_id', type: 'integer' },
    name: { type: 'text' },
    form: { type: 'text' },
    mediaType: { name: 'media_type', type: 'text', nullable: true },
    file: { type: 'text' },
    state: { type: 'text' },
    sizeBytes: { name: 'size_bytes', type: 'integer' },
    digest: { type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
  },
});

export const artifactFileSchema = new EntitySchema<ArtifactFileRow>({
  name: 'ciArtifactFile',
  tableName: 'ci_artifact_files',
  columns: {
    artifactId: { name: 'artifact_id', type: 'integer', primary: true },
    path: { type: 'text', primary: true },
    file: { type: 'text' },
    isGzipped: { name: 'is_gzipped', type: 'boolean' },
    storedBytes: { name: 'stored_bytes', type: 'integer' },
    receivedBytes: { name: 'received_bytes', type: 'integer' },
    sizeBytes: { name: 'size_bytes', type: 'integer' },
  },
});
