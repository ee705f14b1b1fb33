// rowsByVersion: sample rows for migrations.test.ts. Whoever adds a table adds a row here.

export type Row = Record<string, unknown>;

/**
 * One row at least for every table, under the version that makes the table, so
 * that each later step is tried with something in place that it could lose.
 */
export const rowsByVersion: Record<number, [table: string, row: Row][]> = {
  1: [
    ['handles', { folded: 'alice', display: 'Alice', kind: 'user', owner_id: 'alice-id' }],
    ['users', { id: 'alice-id', username: 'Alice', display_name: 'Alice A.', created_at: 1 }],
    ['users', { id: 'bob-id', username: 'bob', created_at: 1, disabled_at: 5 }],
    ['sessions', { id: 's', user_id: 'alice-id', token_hash: 'h1', created_at: 1, last_seen_at: 2, expires_at: 3 }],
    ['access_tokens', { id: 't', user_id: 'alice-id', name: 'ci', token_hash: 'h2', ending: 'abcd', access: 'write', created_at: 1 }],
    ['ssh_keys', { id: 'k', user_id: 'alice-id', title: 'laptop', type: 'ssh-ed25519', blob_base64: 'AAAA', fingerprint: 'SHA256:x', created_at: 1 }],
    ['invites', { id: 'i', token_hash: 'h3', created_by: 'alice-id', created_at: 1, expires_at: 2, used_at: 2, used_by: 'bob-id' }],
    ['setup_tokens', { token_hash: 'h4', created_at: 1, expires_at: 2 }],
  ],
  3: [
    ['repositories', { id: 'r1', owner_user_id: 'alice-id', name: 'Tool', name_folded: 'tool', visibility: 'PUBLIC', description: 'Ünïcode', created_at: 1, updated_at: 9007199254740991 }],
    ['repositories', { id: 'r2', owner_user_id: 'alice-id', name: 'old', name_folded: 'old', visibility: 'PRIVATE', deleted_at: 5, deleted_by: 'alice-id', created_at: 1, updated_at: 1 }],
    ['collaborators', { repository_id: 'r1', user_id: 'bob-id', role: 'write', created_at: 1 }],
    ['access_token_repositories', { token_id: 't', repository_id: 'r1' }],
    ['pushes', { id: 'p', repository_id: 'r1', user_id: 'bob-id', via: 'ssh', created_at: 1 }],
    ['push_updates', { push_id: 'p', position: 0, ref: 'refs/heads/main', old_id: '0', new_id: '1', result: 'ok' }],
    ['push_announcements', { push_id: 'p', listener: 'ci' }],
  ],
  13: [
    ['repositories', { id: 'r3', owner_user_id: 'bob-id', name: 'x', name_folded: 'x', visibility: 'PUBLIC', image_content_type: 'image/png', image_updated_at: 7, created_at: 1, updated_at: 1 }],
  ],
  14: [
    ['organisations', { id: 'o', name: 'example', created_at: 1 }],
    ['organisation_members', { organisation_id: 'o', user_id: 'alice-id', role: 'OWNER', created_at: 1 }],
    ['repositories', { id: 'r4', owner_org_id: 'o', name: 'Tool', name_folded: 'tool', visibility: 'PRIVATE', created_at: 1, updated_at: 1 }],
  ],
  15: [
    ['repository_redirects', { owner_id: 'alice-id', name_folded: 'formerly', repository_id: 'r1', created_at: 1 }],
    ['repository_transfers', { repository_id: 'r1', new_owner_id: 'o', new_owner_kind: 'organisation', offered_by: 'alice-id', created_at: 1 }],
    ['repository_moves', { repository_id: 'r1', from_owner_id: 'bob-id' }],
    ['pins', { user_id: 'bob-id', repository_id: 'r1', position: 0 }],
  ],
  16: [['avatars', { owner_id: 'alice-id', content_type: 'image/png', updated_at: 1 }]],
};
