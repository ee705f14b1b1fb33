import { EntitySchema } from 'typeorm';

/** A row of `ci_artifacts`: files that the jobs of a run leave for others, under one name. */
export interface ArtifactRow {
  id: number;
  runId: number;
  attempt: number;
  /** Who began to upload it. */
  taskId: number;
  name: string;
  /** `zip`: one archive as it was uploaded; `files`: files that were uploaded one by one. */
  form: 'zip' | 'files';
  /** Below the folder of artifacts. */
  file: string;
  /** `removed`: it was deleted, or its time is over; the row says that it was there. */
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
  /** Below the artifact, with forward slashes; checked. */
  path: string;
  /** Below the artifact's folder; ours. */
  file: string;
  /** Stored as the client has compressed it. */
  isGzipped: boolean;
  /** Of what is stored, and how much of that has come. */
  storedBytes: number;
  receivedBytes: number;
  /** Of the content. */
  sizeBytes: number;
}

export const artifactSchema = new EntitySchema<ArtifactRow>({
  name: 'ciArtifact',
  tableName: 'ci_artifacts',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    runId: { name: 'run_id', type: 'integer' },
    attempt: { type: 'integer' },
    taskId: { name: 'task_id', type: 'integer' },
    name: { type: 'text' },
    form: { type: 'text' },
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
