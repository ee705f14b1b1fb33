import { EntitySchema } from 'typeorm';
import type { Visibility } from '../../access/index.ts';

/** A row of `repositories` (SPEC §2.2). Times are milliseconds since the epoch. */
export interface Repository {
  id: string;
  /** Exactly one of the two owners is set: constraint `repositories_exactly_one_owner`. */
  ownerUserId: string | null;
  ownerOrganisationId: string | null;
  name: string;
  nameFolded: string;
  description: string;
  /** An http or https URL; empty if none. */
  website: string;
  visibility: Visibility;
  defaultBranch: string;
  /** Whether pushes may write `refs/changes/` and `refs/meta/`, where Gerrit keeps reviews and settings. */
  acceptsGerritRefs: boolean;
  /** Whether it is a template for new repositories. */
  isTemplate: boolean;
  sizeBytes: number;
  archivedAt: number | null;
  createdAt: number;
  updatedAt: number;
  pushedAt: number | null;
  /** Set while in the trash; such a row has released its name. */
  deletedAt: number | null;
  deletedBy: string | null;
  imageContentType: string | null;
  imageUpdatedAt: number | null;
  /** UUID of the fork's source; null if this is not a fork or the source was permanently deleted. */
  forkedFromId: string | null;
  /** Number of public forks; maintained by triggers. */
  forkCount: number;
  /** Part of `sizeBytes` shared with its forks or its source, stored on disk once. */
  sharedBytes: number;
  /** Actor of the remote repository that this is a copy of: always public and read-only. */
  copiedFrom: string | null;
}

export const repositorySchema = new EntitySchema<Repository>({
  name: 'repository',
  tableName: 'repositories',
  columns: {
    id: { type: 'text', primary: true },
    ownerUserId: { name: 'owner_user_id', type: 'text', nullable: true },
    ownerOrganisationId: { name: 'owner_org_id', type: 'text', nullable: true },
    name: { type: 'text' },
    nameFolded: { name: 'name_folded', type: 'text' },
    description: { type: 'text' },
    website: { type: 'text' },
    visibility: { type: 'text' },
    defaultBranch: { name: 'default_branch', type: 'text' },
    acceptsGerritRefs: { name: 'accepts_gerrit_refs', type: 'boolean' },
    isTemplate: { name: 'is_template', type: 'boolean' },
    sizeBytes: { name: 'size_bytes', type: 'integer' },
    archivedAt: { name: 'archived_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
    pushedAt: { name: 'pushed_at', type: 'integer', nullable: true },
    deletedAt: { name: 'deleted_at', type: 'integer', nullable: true },
    deletedBy: { name: 'deleted_by', type: 'text', nullable: true },
    imageContentType: { name: 'image_content_type', type: 'text', nullable: true },
    imageUpdatedAt: { name: 'image_updated_at', type: 'integer', nullable: true },
    forkedFromId: { name: 'forked_from_id', type: 'text', nullable: true },
    forkCount: { name: 'fork_count', type: 'integer' },
    sharedBytes: { name: 'shared_bytes', type: 'integer' },
    copiedFrom: { name: 'copied_from', type: 'text', nullable: true },
  },
  checks: [{ name: 'repositories_exactly_one_owner', expression: '(owner_user_id IS NULL) <> (owner_org_id IS NULL)' }],
});
