// rowsByVersion: sample rows for migrations.test.ts. A new table needs a row here.

export type Row = Record<string, unknown>;

/**
 * At least one row for every table, under the version that creates the table, so that each later step runs on data that
 * it could lose.
 */
export const rowsByVersion: Record<number, [table: string, row: Row][]> = {
  1: [
    ['handles', { folded: 'alice', display: 'Alice', kind: 'user', owner_id: 'alice-id' }],
    ['users', { id: 'alice-id', username: 'Alice', display_name: 'Alice A.', created_at: 1 }],
    ['users', { id: 'bob-id', username: 'bob', created_at: 1, disabled_at: 5 }],
    ['sessions', { id: 's', user_id: 'alice-id', token_hash: 'h1', created_at: 1, last_seen_at: 2, expires_at: 3 }],
    [
      'access_tokens',
      { id: 't', user_id: 'alice-id', name: 'ci', token_hash: 'h2', ending: 'abcd', access: 'write', created_at: 1 },
    ],
    [
      'ssh_keys',
      {
        id: 'k',
        user_id: 'alice-id',
        title: 'laptop',
        type: 'ssh-ed25519',
        blob_base64: 'AAAA',
        fingerprint: 'SHA256:x',
        created_at: 1,
      },
    ],
    [
      'invites',
      {
        id: 'i',
        token_hash: 'h3',
        created_by: 'alice-id',
        created_at: 1,
        expires_at: 2,
        used_at: 2,
        used_by: 'bob-id',
      },
    ],
    ['setup_tokens', { token_hash: 'h4', created_at: 1, expires_at: 2 }],
  ],
  2: [
    [
      'federation_keys',
      {
        ap_path: '/ap/users/alice',
        kind: 'user',
        owner_id: 'alice-id',
        public_key_pem: 'p',
        private_key_pem: 'q',
        created_at: 1,
      },
    ],
    [
      'remote_actors',
      {
        id: 'https://other.example/ap/users/bob',
        host: 'other.example',
        type: 'Person',
        name: 'Bob',
        handle: 'bob@other.example',
        inbox: 'https://other.example/ap/users/bob/inbox',
        key_id: 'https://other.example/ap/users/bob#main-key',
        public_key_pem: 'p',
        fetched_at: 1,
      },
    ],
    [
      'federation_outbox',
      {
        id: 'a',
        actor_path: '/ap/repos/alice/tool',
        repository_id: 'r1',
        type: 'Push',
        is_public: 1,
        activity: '{}',
        created_at: 1,
      },
    ],
    [
      'federation_inbox',
      {
        signer: 'https://other.example/ap/users/bob',
        activity_id: 'https://other.example/1',
        type: 'Follow',
        received_at: 1,
      },
    ],
    [
      'federation_delivery',
      {
        outbox_id: 'a',
        target_inbox: 'https://other.example/ap/users/bob/inbox',
        host: 'other.example',
        state: 'PENDING',
        next_attempt_at: 1,
        created_at: 1,
      },
    ],
  ],
  3: [
    [
      'repositories',
      {
        id: 'r1',
        owner_user_id: 'alice-id',
        name: 'Tool',
        name_folded: 'tool',
        visibility: 'PUBLIC',
        description: 'Ünïcode',
        created_at: 1,
        updated_at: 9007199254740991,
      },
    ],
    [
      'repositories',
      {
        id: 'r2',
        owner_user_id: 'alice-id',
        name: 'old',
        name_folded: 'old',
        visibility: 'PRIVATE',
        deleted_at: 5,
        deleted_by: 'alice-id',
        created_at: 1,
        updated_at: 1,
      },
    ],
    ['collaborators', { repository_id: 'r1', user_id: 'bob-id', role: 'write', created_at: 1 }],
    ['access_token_repositories', { token_id: 't', repository_id: 'r1' }],
    ['pushes', { id: 'p', repository_id: 'r1', user_id: 'bob-id', via: 'ssh', created_at: 1 }],
    ['push_updates', { push_id: 'p', position: 0, ref: 'refs/heads/main', old_id: '0', new_id: '1', result: 'ok' }],
    ['push_announcements', { push_id: 'p', listener: 'ci' }],
  ],
  9: [
    [
      'repository_followers',
      {
        repository_id: 'r1',
        actor_id: 'https://other.example/ap/users/bob',
        inbox: 'https://other.example/ap/users/bob/inbox',
        host: 'other.example',
        follow_id: 'https://other.example/1',
        created_at: 1,
      },
    ],
    [
      'remote_follows',
      {
        id: 'f',
        user_id: 'alice-id',
        remote_actor_id: 'https://other.example/ap/repos/bob/x',
        remote_inbox: 'https://other.example/ap/repos/bob/x/inbox',
        host: 'other.example',
        handle: 'bob/x@other.example',
        follow_id: 'https://example.org/1',
        state: 'PENDING',
        created_at: 1,
      },
    ],
    [
      'received_pushes',
      {
        id: 'g',
        actor_id: 'https://other.example/ap/repos/bob/x',
        activity_id: 'https://other.example/2',
        branch: 'main',
        commit_count: 1,
        commits: '[]',
        pushed_at: 1,
        received_at: 1,
      },
    ],
  ],
  13: [
    [
      'repositories',
      {
        id: 'r3',
        owner_user_id: 'bob-id',
        name: 'x',
        name_folded: 'x',
        visibility: 'PUBLIC',
        image_content_type: 'image/png',
        image_updated_at: 7,
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  14: [
    ['organisations', { id: 'o', name: 'example', created_at: 1 }],
    ['organisation_members', { organisation_id: 'o', user_id: 'alice-id', role: 'OWNER', created_at: 1 }],
    [
      'repositories',
      {
        id: 'r4',
        owner_org_id: 'o',
        name: 'Tool',
        name_folded: 'tool',
        visibility: 'PRIVATE',
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  15: [
    ['repository_redirects', { owner_id: 'alice-id', name_folded: 'formerly', repository_id: 'r1', created_at: 1 }],
    [
      'repository_transfers',
      { repository_id: 'r1', new_owner_id: 'o', new_owner_kind: 'organisation', offered_by: 'alice-id', created_at: 1 },
    ],
    ['repository_moves', { repository_id: 'r1', to_owner_id: 'bob-id' }],
    ['pins', { user_id: 'bob-id', repository_id: 'r1', position: 0 }],
  ],
  16: [['avatars', { owner_id: 'alice-id', content_type: 'image/png', updated_at: 1 }]],
  19: [
    [
      'remote_user_follows',
      {
        id: 'u',
        user_id: 'alice-id',
        remote_actor_id: 'https://other.example/ap/users/bob',
        host: 'other.example',
        handle: 'bob@other.example',
        created_at: 1,
        next_scan_at: 1,
      },
    ],
    ['remote_user_repositories', { user_follow_id: 'u', remote_actor_id: 'https://other.example/ap/repos/bob/x' }],
    ['federation_peers', { host: 'other.example', paired_at: 1 }],
    ['federation_pairing_codes', { code_hash: 'h5', created_at: 1, expires_at: 2 }],
  ],
  20: [
    ['ci_registration_tokens', { id: 'g', token_hash: 'h5', created_by: 'alice-id', created_at: 1, replaced_at: 2 }],
    [
      'ci_runners',
      {
        id: 1,
        uuid: 'u1',
        organisation_id: 'o',
        token_salt: 's',
        token_hash: 'h',
        name: 'builder',
        labels: '["linux"]',
        created_at: 1,
      },
    ],
  ],
  21: [
    ['ci_workflow_files', { hash: 'f', content: 'on: push' }],
    [
      'ci_runs',
      {
        id: 7,
        repository_id: 'r1',
        number: 1,
        workflow_path: 'ci.yml',
        workflow_name: 'CI',
        file_hash: 'f',
        title: 'Begin',
        event: 'push',
        event_payload: '{}',
        ref: 'refs/heads/main',
        sha: '1',
        actor_id: 'bob-id',
        status: 'running',
        created_at: 1,
      },
    ],
    [
      'ci_jobs',
      {
        id: 8,
        run_id: 7,
        repository_id: 'r1',
        attempt: 1,
        job_key: 'build',
        position: 0,
        name: 'build',
        status: 'running',
        task_id: 9,
        created_at: 1,
      },
    ],
    [
      'ci_tasks',
      { id: 9, job_id: 8, runner_id: 1, runner_name: 'builder', token_hash: 'h6', status: 'running', created_at: 1 },
    ],
    ['ci_steps', { task_id: 9, position: 0, name: 'Run make', status: 'running', log_index: 3 }],
    ['ci_outputs', { task_id: 9, name: 'version', value: '1' }],
  ],
  22: [
    ['ci_secrets', { id: 'c', user_id: 'alice-id', name: 'KEY', ciphertext: 'x', created_at: 1, updated_at: 1 }],
    ['ci_variables', { id: 'v', repository_id: 'r1', name: 'TARGET', value: 'y', created_at: 1, updated_at: 1 }],
  ],
  23: [
    [
      'commit_statuses',
      {
        repository_id: 'r1',
        sha: '1',
        context: 'CI / build (push)',
        state: 'pending',
        creator_id: 'bob-id',
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  24: [
    [
      'ci_artifacts',
      {
        id: 1,
        run_id: 7,
        attempt: 1,
        task_id: 9,
        name: 'site',
        form: 'zip',
        file: 'a',
        state: 'ready',
        created_at: 1,
        expires_at: 2,
      },
    ],
    [
      'ci_schedules',
      { repository_id: 'r1', workflow_path: 'ci.yml', cron: '0 3 * * *', sha: '1', actor_id: 'bob-id', next_at: 5 },
    ],
  ],
  25: [
    [
      'ci_artifact_files',
      { artifact_id: 1, path: 'site/index.html', file: 'b', stored_bytes: 3, received_bytes: 3, size_bytes: 9 },
    ],
    ['ci_run_numbers', { repository_id: 'r1', last: 9 }],
  ],
  30: [
    ['search_changes', { kind: 'repository', id: 'changed' }],
    [
      'search_repositories',
      {
        place: 65536,
        id: 'r1',
        owner_user_id: 'alice-id',
        visibility: 'PUBLIC',
        folded: 'alice\u0001tool\u0001ünïcode',
        hit: '{}',
      },
    ],
    ['search_people', { place: 65536, id: 'alice-id', folded: 'alice\u0001alice a.', hit: '{}' }],
  ],
  40: [
    ['audit_log', { id: 1, at: 1, actor: 'local', event: 'person.added', details: '{}', hash: 'h' }],
    ['job_runs', { name: 'trash.empty', last_started_at: 1, last_took_ms: 2 }],
  ],
  51: [
    [
      'webhooks',
      {
        id: 'w',
        organisation_id: 'o',
        url: 'https://hooks.example.org/',
        events: '["push"]',
        created_at: 1,
        updated_at: 1,
      },
    ],
    [
      'webhook_deliveries',
      {
        id: 1,
        uuid: 'd',
        webhook_id: 'w',
        event: 'push',
        payload: '{}',
        state: 'PENDING',
        next_attempt_at: 1,
        created_at: 1,
      },
    ],
  ],
  52: [
    [
      'mirrors',
      {
        repository_id: 'r1',
        direction: 'pull',
        url: 'https://git.example.org/bob/tool.git',
        interval_ms: 300000,
        next_at: 1,
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  56: [
    ['repository_languages', { repository_id: 'r1', position: 0, language: 'C' }],
    ['language_counts', { repository_id: 'r1', commit_id: '1', counted_at: 1 }],
  ],
  60: [['push_listener_attempts', { push_id: 'p', listener: 'ci', attempts: 2 }]],
  66: [
    ['federation_origins', { origin: 'https://forge.example', accepted_at: 1 }],
    ['federation_peers', { host: 'gone.example', failures: 9, silent_since: 1, gone_at: 2 }],
  ],
  70: [
    [
      'mirrors',
      {
        repository_id: 'r4',
        direction: 'push',
        url: 'ssh://git@git.example.org/bob/tool.git',
        ssh_key_ciphertext: 'sealed',
        ssh_public_key: 'ssh-ed25519 AAAA mirror',
        host_key: 'ssh-ed25519 AAAA',
        offered_host_key: 'ssh-ed25519 BBBB',
        interval_ms: 300000,
        next_at: 1,
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  64: [
    [
      'repositories',
      {
        id: 'r5',
        owner_user_id: 'alice-id',
        name: 'reviewed',
        name_folded: 'reviewed',
        visibility: 'PUBLIC',
        accepts_gerrit_refs: 1,
        created_at: 1,
        updated_at: 1,
      },
    ],
  ],
  74: [
    [
      'outbox',
      {
        id: 2,
        kind: 'webhook',
        key: 'w',
        payload: '{}',
        state: 'FAILED',
        attempts: 8,
        next_at: 1,
        created_at: 1,
        last_error: 'no',
      },
    ],
    ['webhook_messages', { id: 2, uuid: 'u2', webhook_id: 'w', event: 'push', tried_at: 1, took_ms: 1, status: 500 }],
  ],
  68: [
    [
      'ci_runners',
      {
        id: 2,
        uuid: 'u2',
        token_salt: 's',
        token_hash: 'h',
        name: 'offline',
        labels: '["linux"]',
        registered_labels: '["linux"]',
        created_at: 1,
      },
    ],
  ],
};
