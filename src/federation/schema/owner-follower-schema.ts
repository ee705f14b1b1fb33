import { EntitySchema } from 'typeorm';

/** A remote actor that follows a local subject, or requests to. The subject id alone is enough: all are UUIDs. */
export interface SubjectFollower {
  subjectId: string;
  actorId: string;
  inbox: string;
  /** Host and non-default port of the inbox. */
  host: string;
  /** Id of the current Follow. */
  followId: string;
  createdAt: number;
}

const columns = {
  subjectId: { name: 'subject_id', type: 'text', primary: true },
  actorId: { name: 'actor_id', type: 'text', primary: true },
  inbox: { type: 'text' },
  host: { type: 'text' },
  followId: { name: 'follow_id', type: 'text' },
  createdAt: { name: 'created_at', type: 'integer' },
} as const;

/** Followers of users and organisations; followers of repositories are in `repository_followers` (SPEC §2.5). */
export const ownerFollowerSchema = new EntitySchema<SubjectFollower>({
  name: 'ownerFollower',
  tableName: 'owner_followers',
  columns,
});

/** Pending follow requests for repositories, users and organisations. */
export const followRequestSchema = new EntitySchema<SubjectFollower>({
  name: 'followRequest',
  tableName: 'follow_requests',
  columns,
});

/** A repository, user or organisation whose new followers need approval. */
interface FollowApproval {
  subjectId: string;
  createdAt: number;
}

export const followApprovalSchema = new EntitySchema<FollowApproval>({
  name: 'followApproval',
  tableName: 'follow_approvals',
  columns: {
    subjectId: { name: 'subject_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
