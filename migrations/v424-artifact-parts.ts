import type { Migration } from '../src/db/index.ts';

/**
 * Parts of artifacts that are still coming, where several nodes serve a database and files are in a bucket: each is an
 * object, and a row says where it belongs. A call may arrive at any node.
 */
export const artifactParts: Migration = {
  version: 424,
  name: 'ArtifactParts',
  statements: [
    `CREATE TABLE ci_artifact_parts (
      artifact_id BIGINT NOT NULL REFERENCES ci_artifacts (id) ON DELETE CASCADE,
      file TEXT NOT NULL,
      block TEXT NOT NULL,
      position BIGINT NOT NULL,
      object TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      PRIMARY KEY (artifact_id, file, block, position)
    )`,
  ],
};
