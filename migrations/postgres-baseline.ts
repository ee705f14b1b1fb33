import type { Baseline } from '../src/db/index.ts';

/**
 * The schema of an empty database on PostgreSQL. It stands for the steps with these versions; later ones are applied
 * after it, and it is never edited once it was released. `test/db/dialects.test.ts` compares the schema that a
 * PostgreSQL gets with SQLite's.
 */
export const postgresBaseline: Baseline = {
  versions: [
    1, 2, 3, 9, 13, 14, 15, 16, 19, 20, 21, 22, 23, 24, 25, 30, 40, 50, 51, 52, 54, 56, 57, 58, 60, 62, 64, 66, 68, 70,
    72, 73, 74, 76, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114, 116, 120, 122, 124, 128,
    130, 134, 138, 142, 144, 146, 148, 150, 152, 154, 156, 160, 161, 164, 174, 177, 178, 187, 188, 195, 203, 204, 205,
    206, 207, 209, 210,
  ],
  statements: [
    `CREATE EXTENSION IF NOT EXISTS pg_trgm`,
    `CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    username TEXT COLLATE "C",
    display_name TEXT COLLATE "C" NOT NULL DEFAULT '',
    bio TEXT COLLATE "C" NOT NULL DEFAULT '',
    website TEXT COLLATE "C" NOT NULL DEFAULT '',
    password_hash TEXT COLLATE "C",
    is_administrator BIGINT NOT NULL DEFAULT 0,
    must_change_password BIGINT NOT NULL DEFAULT 0,
    disabled_at BIGINT,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT
    , second_factor_at BIGINT)`,
    `CREATE TABLE access_tokens (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    ending TEXT COLLATE "C" NOT NULL,
    access TEXT COLLATE "C" NOT NULL CONSTRAINT access_tokens_access CHECK (access IN ('read', 'write', 'admin')),
    all_repositories BIGINT NOT NULL DEFAULT 1,
    expires_at BIGINT,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    last_used_address TEXT COLLATE "C"
    )`,
    `CREATE TABLE organisations (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    display_name TEXT COLLATE "C",
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE repositories (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    owner_user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE RESTRICT,
    owner_org_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE RESTRICT,
    name TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    visibility TEXT COLLATE "C" NOT NULL
    CONSTRAINT repositories_visibility CHECK (visibility IN ('PUBLIC', 'PRIVATE')),
    default_branch TEXT COLLATE "C" NOT NULL DEFAULT 'main',
    size_bytes BIGINT NOT NULL DEFAULT 0,
    archived_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    pushed_at BIGINT,
    deleted_at BIGINT,
    deleted_by TEXT COLLATE "C",
    image_content_type TEXT COLLATE "C",
    image_updated_at BIGINT, accepts_gerrit_refs BIGINT NOT NULL DEFAULT 0, storage_id TEXT COLLATE "C" NOT NULL DEFAULT 'local', forked_from_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE SET NULL, fork_count BIGINT NOT NULL DEFAULT 0, shared_bytes BIGINT NOT NULL DEFAULT 0, is_template BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT repositories_exactly_one_owner
    CHECK ((owner_user_id IS NULL) <> (owner_org_id IS NULL))
    )`,
    `CREATE TABLE access_token_repositories (
    token_id TEXT COLLATE "C" NOT NULL REFERENCES access_tokens (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    PRIMARY KEY (token_id, repository_id)
    )`,
    `CREATE TABLE account_links (
    token_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL CONSTRAINT account_links_purpose CHECK (purpose IN ('verify', 'reset')),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address_key TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
    )`,
    `CREATE TABLE remote_actors (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C",
    inbox TEXT COLLATE "C" NOT NULL,
    repositories_url TEXT COLLATE "C",
    key_id TEXT COLLATE "C" NOT NULL,
    public_key_pem TEXT COLLATE "C" NOT NULL,
    fetched_at BIGINT NOT NULL
    , webfinger_handle TEXT COLLATE "C")`,
    `CREATE TABLE milestones (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    title TEXT COLLATE "C" NOT NULL,
    title_folded TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    due_on TEXT COLLATE "C",
    closed_at BIGINT,
    open_count BIGINT NOT NULL DEFAULT 0,
    closed_count BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE issues (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT issues_kind CHECK (kind IN ('ISSUE', 'PULL')),
    title TEXT COLLATE "C" NOT NULL,
    author_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    remote_author_id TEXT COLLATE "C" REFERENCES remote_actors (id) ON DELETE SET NULL,
    author_name TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL CONSTRAINT issues_state CHECK (state IN ('OPEN', 'CLOSED', 'MERGED')),
    close_reason TEXT COLLATE "C" CONSTRAINT issues_close_reason CHECK (close_reason IN ('completed', 'not_planned', 'duplicate')),
    milestone_id TEXT COLLATE "C" REFERENCES milestones (id) ON DELETE SET NULL,
    locked_at BIGINT,
    pinned_at BIGINT,
    held_at BIGINT,
    last_position BIGINT NOT NULL DEFAULT 0,
    comment_count BIGINT NOT NULL DEFAULT 0,
    origin TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    closed_at BIGINT,
    deleted_at BIGINT,
    deleted_by TEXT COLLATE "C",
    CONSTRAINT issues_number UNIQUE (repository_id, number),
    CONSTRAINT issues_only_pulls_merge CHECK (state <> 'MERGED' OR kind = 'PULL')
    )`,
    `CREATE TABLE attachments (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    issue_id TEXT COLLATE "C" REFERENCES issues (id) ON DELETE CASCADE,
    uploader_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    name TEXT COLLATE "C" NOT NULL,
    content_type TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE attachment_uses (
    attachment_id TEXT COLLATE "C" NOT NULL REFERENCES attachments (id) ON DELETE CASCADE,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    PRIMARY KEY (attachment_id, issue_id, position)
    )`,
    `CREATE TABLE pushes (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    via TEXT COLLATE "C" NOT NULL CONSTRAINT pushes_via CHECK (via IN ('http', 'ssh', 'undo', 'mirror', 'sync', 'merge', 'web', 'api', 'cli')),
    options TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    created_at BIGINT NOT NULL,
    settled_at BIGINT,
    announced_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    tried_at BIGINT,
    last_error TEXT COLLATE "C",
    parked_at BIGINT,
    credential TEXT COLLATE "C", deploy_key TEXT COLLATE "C", moved BIGINT, first_moves TEXT COLLATE "C")`,
    `CREATE TABLE pulls (
    issue_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    is_open BIGINT NOT NULL DEFAULT 1,
    is_draft BIGINT NOT NULL DEFAULT 0,
    base_branch TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL CONSTRAINT pulls_source CHECK (source IN ('BRANCH', 'FORK', 'PUSH', 'PATCH', 'REMOTE')),
    head_repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE SET NULL,
    head_branch TEXT COLLATE "C",
    topic TEXT COLLATE "C",
    submitter_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    last_round BIGINT NOT NULL DEFAULT 0,
    head_oid TEXT COLLATE "C" NOT NULL,
    base_oid TEXT COLLATE "C" NOT NULL,
    maintainers_may_push BIGINT NOT NULL DEFAULT 0,
    merge_state TEXT COLLATE "C" NOT NULL DEFAULT 'UNKNOWN'
    CONSTRAINT pulls_merge_state CHECK (merge_state IN ('UNKNOWN', 'CLEAN', 'CONFLICT', 'EMPTY', 'UNRELATED')),
    merge_state_onto TEXT COLLATE "C",
    merge_state_reason TEXT COLLATE "C",
    conflicts TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    merge_style TEXT COLLATE "C" CONSTRAINT pulls_merge_style CHECK (merge_style IN ('MERGE', 'SQUASH', 'REBASE', 'FORWARD')),
    merge_when_ready_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    merge_when_ready_round BIGINT,
    merge_when_ready TEXT COLLATE "C",
    merged_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    merged_oid TEXT COLLATE "C",
    merged_onto_oid TEXT COLLATE "C",
    merge_push_id TEXT COLLATE "C" REFERENCES pushes (id) ON DELETE SET NULL,
    merged_at BIGINT
    , stacked_on_oid TEXT COLLATE "C", submitter_name TEXT COLLATE "C", merged_by_name TEXT COLLATE "C")`,
    `CREATE TABLE attention (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL,
    PRIMARY KEY (user_id, issue_id)
    )`,
    `CREATE TABLE audit_log (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    address TEXT COLLATE "C",
    event TEXT COLLATE "C" NOT NULL,
    details TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL
    )`,
    `CREATE TABLE avatars (
    owner_id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    content_type TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL
    )`,
    `CREATE TABLE branch_rules (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    target TEXT COLLATE "C" NOT NULL CONSTRAINT branch_rules_target CHECK (target IN ('BRANCH', 'TAG')),
    position BIGINT NOT NULL,
    pattern TEXT COLLATE "C" NOT NULL,
    push_level TEXT COLLATE "C" NOT NULL DEFAULT 'write' CONSTRAINT branch_rules_push
    CHECK (push_level IN ('nobody', 'owner', 'admin', 'write')),
    push_tasks BIGINT NOT NULL DEFAULT 1,
    force_level TEXT COLLATE "C" NOT NULL DEFAULT 'nobody' CONSTRAINT branch_rules_force
    CHECK (force_level IN ('nobody', 'owner', 'admin', 'write')),
    force_tasks BIGINT NOT NULL DEFAULT 0,
    create_level TEXT COLLATE "C" NOT NULL DEFAULT 'write' CONSTRAINT branch_rules_create
    CHECK (create_level IN ('nobody', 'owner', 'admin', 'write')),
    create_tasks BIGINT NOT NULL DEFAULT 1,
    delete_level TEXT COLLATE "C" NOT NULL DEFAULT 'nobody' CONSTRAINT branch_rules_delete
    CHECK (delete_level IN ('nobody', 'owner', 'admin', 'write')),
    delete_tasks BIGINT NOT NULL DEFAULT 0,
    linear BIGINT NOT NULL DEFAULT 0,
    signed BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, merge_level TEXT COLLATE "C" NOT NULL DEFAULT 'write'
    CONSTRAINT branch_rules_merge CHECK (merge_level IN ('nobody', 'owner', 'admin', 'write')), merge_tasks BIGINT NOT NULL DEFAULT 0, approvals BIGINT NOT NULL DEFAULT 0, owners_approve BIGINT NOT NULL DEFAULT 0, approvals_survive TEXT COLLATE "C" NOT NULL DEFAULT 'rebase'
    CONSTRAINT branch_rules_survive CHECK (approvals_survive IN ('nothing', 'rebase', 'anything')), threads_resolved BIGINT NOT NULL DEFAULT 0, checks TEXT COLLATE "C" NOT NULL DEFAULT '[]', up_to_date TEXT COLLATE "C" NOT NULL DEFAULT 'no'
    CONSTRAINT branch_rules_up_to_date CHECK (up_to_date IN ('no', 'yes', 'queue')), styles TEXT COLLATE "C" NOT NULL DEFAULT '["MERGE","SQUASH","REBASE","FORWARD"]', admins_too BIGINT NOT NULL DEFAULT 1, push_deploy_keys BIGINT NOT NULL DEFAULT 0, force_deploy_keys BIGINT NOT NULL DEFAULT 0, create_deploy_keys BIGINT NOT NULL DEFAULT 0, delete_deploy_keys BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT branch_rules_pattern UNIQUE (repository_id, target, pattern)
    )`,
    `CREATE TABLE branch_rule_people (
    rule_id TEXT COLLATE "C" NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
    act TEXT COLLATE "C" NOT NULL CONSTRAINT branch_rule_people_act CHECK (act IN ('push', 'force', 'create', 'delete', 'merge')),
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, act, user_id)
    )`,
    `CREATE TABLE teams (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    organisation_id TEXT COLLATE "C" NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    role TEXT COLLATE "C" NOT NULL CONSTRAINT teams_role CHECK (role IN ('read', 'write', 'admin')),
    created_at BIGINT NOT NULL,
    CONSTRAINT teams_name UNIQUE (organisation_id, name_folded)
    )`,
    `CREATE TABLE branch_rule_teams (
    rule_id TEXT COLLATE "C" NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
    act TEXT COLLATE "C" NOT NULL CONSTRAINT branch_rule_teams_act CHECK (act IN ('push', 'force', 'create', 'delete', 'merge')),
    team_id TEXT COLLATE "C" NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    PRIMARY KEY (rule_id, act, team_id)
    )`,
    `CREATE TABLE ci_workflow_files (
    hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    content TEXT COLLATE "C" NOT NULL
    )`,
    `CREATE TABLE ci_runs (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    workflow_path TEXT COLLATE "C" NOT NULL,
    workflow_name TEXT COLLATE "C" NOT NULL,
    file_hash TEXT COLLATE "C" NOT NULL REFERENCES ci_workflow_files (hash),
    title TEXT COLLATE "C" NOT NULL,
    event TEXT COLLATE "C" NOT NULL,
    event_payload TEXT COLLATE "C" NOT NULL,
    ref TEXT COLLATE "C" NOT NULL,
    sha TEXT COLLATE "C" NOT NULL,
    is_trusted BIGINT NOT NULL DEFAULT 1,
    actor_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    attempt BIGINT NOT NULL DEFAULT 1,
    attempt_actor_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    status TEXT COLLATE "C" NOT NULL CONSTRAINT ci_runs_status CHECK (status IN ('blocked', 'waiting', 'running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped')),
    reason TEXT COLLATE "C",
    is_cancelled BIGINT NOT NULL DEFAULT 0,
    concurrency_group TEXT COLLATE "C",
    concurrency_state TEXT COLLATE "C"
    CONSTRAINT ci_runs_concurrency CHECK (concurrency_state IN ('holding', 'pending')),
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT
    , approval TEXT COLLATE "C"
    CONSTRAINT ci_runs_approval CHECK (approval IN ('waiting', 'approved')), approved_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL, approved_at BIGINT, deploy_key TEXT COLLATE "C", workflow_folder TEXT COLLATE "C" NOT NULL DEFAULT '')`,
    `CREATE TABLE ci_jobs (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    run_id BIGINT NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    job_key TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    needs TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    leg TEXT COLLATE "C",
    runs_on TEXT COLLATE "C",
    continue_on_error BIGINT NOT NULL DEFAULT 0,
    fail_fast BIGINT NOT NULL DEFAULT 1,
    max_parallel BIGINT,
    status TEXT COLLATE "C" NOT NULL CONSTRAINT ci_jobs_status CHECK (status IN ('blocked', 'waiting', 'running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped')),
    hold TEXT COLLATE "C" CONSTRAINT ci_jobs_hold CHECK (hold IN ('run', 'needs', 'parallel', 'concurrency')),
    reason TEXT COLLATE "C",
    concurrency_group TEXT COLLATE "C",
    concurrency_state TEXT COLLATE "C"
    CONSTRAINT ci_jobs_concurrency CHECK (concurrency_state IN ('holding', 'pending')),
    task_id BIGINT,
    losses BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    waiting_since BIGINT,
    started_at BIGINT,
    finished_at BIGINT
    , debug BIGINT NOT NULL DEFAULT 0, lost_runner TEXT COLLATE "C")`,
    `CREATE TABLE ci_runners (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    uuid TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    token_salt TEXT COLLATE "C" NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version TEXT COLLATE "C" NOT NULL DEFAULT '',
    labels TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    capabilities TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    ephemeral BIGINT NOT NULL DEFAULT 0,
    disabled_at BIGINT,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT,
    last_active_at BIGINT, registered_labels TEXT COLLATE "C" NOT NULL DEFAULT '[]', trusted_only BIGINT NOT NULL DEFAULT 0, declared_labels TEXT COLLATE "C" NOT NULL DEFAULT '[]', has_chosen_labels BIGINT NOT NULL DEFAULT 0, declared_at BIGINT,
    CONSTRAINT ci_runners_one_scope CHECK ((user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
    AND (organisation_id IS NULL OR repository_id IS NULL))
    )`,
    `CREATE TABLE ci_tasks (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    job_id BIGINT NOT NULL REFERENCES ci_jobs (id) ON DELETE CASCADE,
    runner_id BIGINT REFERENCES ci_runners (id) ON DELETE SET NULL,
    runner_name TEXT COLLATE "C" NOT NULL,
    request_key TEXT COLLATE "C",
    token_hash TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CONSTRAINT ci_tasks_status
    CHECK (status IN ('running', 'cancelling', 'success', 'failure', 'cancelled', 'skipped')),
    notices TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    created_at BIGINT NOT NULL,
    confirmed_at BIGINT,
    reported_at BIGINT,
    started_at BIGINT,
    stopped_at BIGINT,
    log_rows BIGINT NOT NULL DEFAULT 0,
    log_bytes BIGINT NOT NULL DEFAULT 0,
    log_dropped BIGINT NOT NULL DEFAULT 0,
    sealed_at BIGINT,
    log_removed_at BIGINT
    , annotated_rows BIGINT NOT NULL DEFAULT 0)`,
    `CREATE TABLE ci_annotations (
    task_id BIGINT NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
    row_number BIGINT NOT NULL,
    run_id BIGINT NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    commit_id TEXT COLLATE "C" NOT NULL,
    level TEXT COLLATE "C" NOT NULL CONSTRAINT ci_annotations_level CHECK (level IN ('error', 'warning', 'notice')),
    path TEXT COLLATE "C",
    first_line BIGINT,
    last_line BIGINT,
    title TEXT COLLATE "C",
    message TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task_id, row_number)
    )`,
    `CREATE TABLE ci_artifacts (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    run_id BIGINT NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    task_id BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    form TEXT COLLATE "C" NOT NULL CONSTRAINT ci_artifacts_form CHECK (form IN ('zip', 'files')),
    file TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CONSTRAINT ci_artifacts_state CHECK (state IN ('uploading', 'ready', 'removed')),
    size_bytes BIGINT NOT NULL DEFAULT 0,
    digest TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
    , repository_id TEXT COLLATE "C" NOT NULL DEFAULT '', media_type TEXT COLLATE "C")`,
    `CREATE TABLE ci_artifact_files (
    artifact_id BIGINT NOT NULL REFERENCES ci_artifacts (id) ON DELETE CASCADE,
    path TEXT COLLATE "C" NOT NULL,
    file TEXT COLLATE "C" NOT NULL,
    is_gzipped BIGINT NOT NULL DEFAULT 0,
    stored_bytes BIGINT NOT NULL,
    received_bytes BIGINT NOT NULL DEFAULT 0,
    size_bytes BIGINT NOT NULL,
    PRIMARY KEY (artifact_id, path)
    )`,
    `CREATE TABLE ci_call_matrices (
    run_id BIGINT NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    call_key TEXT COLLATE "C" NOT NULL,
    matrix TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, position)
    )`,
    `CREATE TABLE ci_disabled_workflows (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    workflow_path TEXT COLLATE "C" NOT NULL,
    disabled_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    disabled_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, workflow_path)
    )`,
    `CREATE TABLE ci_identity_keys (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    private_key TEXT COLLATE "C" NOT NULL,
    public_key TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
    )`,
    `CREATE TABLE ci_outputs (
    task_id BIGINT NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C",
    PRIMARY KEY (task_id, name)
    )`,
    `CREATE TABLE ci_pending_events (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    event TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    details TEXT COLLATE "C" NOT NULL,
    ref TEXT COLLATE "C",
    is_trusted BIGINT NOT NULL,
    actor_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE ci_registration_tokens (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    token_hash TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    replaced_at BIGINT, single_use BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT ci_registration_tokens_one_scope CHECK ((user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
    AND (organisation_id IS NULL OR repository_id IS NULL))
    )`,
    `CREATE TABLE ci_repository_settings (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    is_enabled BIGINT NOT NULL DEFAULT 1,
    token_permissions TEXT COLLATE "C" CHECK (token_permissions IN ('read', 'write'))
    )`,
    `CREATE TABLE ci_retention (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    artifact_days BIGINT CHECK (artifact_days > 0),
    log_days BIGINT CHECK (log_days > 0)
    )`,
    `CREATE TABLE ci_run_numbers (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    last BIGINT NOT NULL
    )`,
    `CREATE TABLE ci_schedules (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    workflow_path TEXT COLLATE "C" NOT NULL,
    cron TEXT COLLATE "C" NOT NULL,
    sha TEXT COLLATE "C" NOT NULL,
    actor_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, workflow_path, cron)
    )`,
    `CREATE TABLE ci_secrets (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    ciphertext TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, only_for TEXT COLLATE "C",
    CONSTRAINT ci_secrets_one_scope CHECK ((user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
    AND (organisation_id IS NULL OR repository_id IS NULL))
    )`,
    `CREATE TABLE ci_steps (
    task_id BIGINT NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL CONSTRAINT ci_steps_status
    CHECK (status IN ('waiting', 'running', 'success', 'failure', 'cancelled', 'skipped')),
    started_at BIGINT,
    stopped_at BIGINT,
    log_index BIGINT NOT NULL DEFAULT 0,
    log_length BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, position)
    )`,
    `CREATE TABLE ci_summaries (
    task_id BIGINT NOT NULL REFERENCES ci_tasks (id) ON DELETE CASCADE,
    step BIGINT NOT NULL,
    content TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (task_id, step)
    )`,
    `CREATE TABLE ci_variables (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT ci_variables_one_scope CHECK ((user_id IS NULL OR (organisation_id IS NULL AND repository_id IS NULL))
    AND (organisation_id IS NULL OR repository_id IS NULL))
    )`,
    `CREATE TABLE collaborators (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role TEXT COLLATE "C" NOT NULL CONSTRAINT collaborators_role CHECK (role IN ('read', 'write', 'admin')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, user_id)
    )`,
    `CREATE TABLE commit_counts (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    author_key TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    commits BIGINT NOT NULL,
    PRIMARY KEY (repository_id, author_key, day)
    )`,
    `CREATE TABLE commit_statuses (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    sha TEXT COLLATE "C" NOT NULL,
    context TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL
    CONSTRAINT commit_statuses_state CHECK (state IN ('pending', 'success', 'failure', 'error')),
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    target_url TEXT COLLATE "C",
    creator_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, sha, context)
    )`,
    `CREATE TABLE contributors (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    first_at BIGINT NOT NULL,
    admitted_at BIGINT,
    PRIMARY KEY (repository_id, user_id)
    )`,
    `CREATE TABLE counted_commits (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    commit_id TEXT COLLATE "C"
    )`,
    `CREATE TABLE counts (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    value BIGINT NOT NULL
    )`,
    `CREATE TABLE deploy_keys (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    title TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    blob_base64 TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    access TEXT COLLATE "C" NOT NULL CONSTRAINT deploy_keys_access CHECK (access IN ('read', 'write')),
    added_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
    )`,
    `CREATE TABLE drafts (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    context TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, context)
    )`,
    `CREATE TABLE email_addresses (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address TEXT COLLATE "C" NOT NULL,
    address_key TEXT COLLATE "C" NOT NULL,
    is_primary BIGINT NOT NULL DEFAULT 0,
    is_public BIGINT NOT NULL DEFAULT 0,
    verified_at BIGINT,
    created_at BIGINT NOT NULL,
    CONSTRAINT email_addresses_primary_verified CHECK (is_primary = 0 OR verified_at IS NOT NULL)
    )`,
    `CREATE TABLE entry_announcements (
    issue_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    listener TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (issue_id, position, listener),
    FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE entry_listener_attempts (
    issue_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    listener TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    last_error TEXT COLLATE "C", ends BIGINT NOT NULL DEFAULT 0, begun_at BIGINT,
    PRIMARY KEY (issue_id, position, listener),
    FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE entry_revisions (
    issue_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    editor_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    edited_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, position, revision),
    FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE federation_outbox (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    actor_path TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C",
    type TEXT COLLATE "C" NOT NULL,
    is_public BIGINT NOT NULL,
    activity TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE federation_delivery (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    outbox_id TEXT COLLATE "C" NOT NULL REFERENCES federation_outbox (id) ON DELETE CASCADE,
    target_inbox TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CONSTRAINT federation_delivery_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
    attempts BIGINT NOT NULL DEFAULT 0,
    last_error TEXT COLLATE "C",
    next_attempt_at BIGINT NOT NULL,
    locked_until BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    settled_at BIGINT
    , cancelled_at BIGINT)`,
    `CREATE TABLE federation_inbox (
    signer TEXT COLLATE "C" NOT NULL,
    activity_id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    received_at BIGINT NOT NULL,
    PRIMARY KEY (signer, activity_id)
    )`,
    `CREATE TABLE federation_keys (
    ap_path TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT federation_keys_kind CHECK (kind IN ('repository', 'user', 'instance')),
    owner_id TEXT COLLATE "C" NOT NULL,
    public_key_pem TEXT COLLATE "C" NOT NULL,
    private_key_pem TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE federation_origins (
    origin TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    accepted_at BIGINT NOT NULL
    )`,
    `CREATE TABLE federation_pairing_codes (
    code_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
    )`,
    `CREATE TABLE federation_peers (
    host TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    paired_at BIGINT,
    asked_at BIGINT,
    last_success_at BIGINT,
    last_error_at BIGINT,
    last_error TEXT COLLATE "C",
    failures BIGINT NOT NULL DEFAULT 0,
    retry_at BIGINT NOT NULL DEFAULT 0
    , silent_since BIGINT, gone_at BIGINT, software TEXT COLLATE "C", software_at BIGINT, reads TEXT COLLATE "C")`,
    `CREATE TABLE gpg_keys (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    fingerprint TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    algorithm TEXT COLLATE "C" NOT NULL,
    user_ids TEXT COLLATE "C" NOT NULL,
    addresses TEXT COLLATE "C" NOT NULL,
    subkeys TEXT COLLATE "C" NOT NULL,
    armored TEXT COLLATE "C" NOT NULL,
    key_created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL)`,
    `CREATE TABLE gpg_key_parts (
    key_id TEXT COLLATE "C" NOT NULL,
    gpg_key_id TEXT COLLATE "C" NOT NULL REFERENCES gpg_keys (id) ON DELETE CASCADE,
    fingerprint TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (key_id, gpg_key_id, fingerprint))`,
    `CREATE TABLE handles (
    folded TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    display TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT handles_kind CHECK (kind IN ('user', 'organisation')),
    owner_id TEXT COLLATE "C" NOT NULL,
    released_at BIGINT
    )`,
    `CREATE TABLE held_contributions (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    held_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, position)
    )`,
    `CREATE TABLE hidden_entries (
    issue_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT hidden_entries_reason
    CHECK (reason IN ('spam', 'abuse', 'off_topic', 'outdated', 'duplicate', 'resolved')),
    hidden_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    hidden_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, position),
    FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE instance_signing_keys (
    fingerprint TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    blob_base64 TEXT COLLATE "C" NOT NULL,
    private_ciphertext TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    retired_at BIGINT)`,
    `CREATE TABLE invites (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    token_hash TEXT COLLATE "C" NOT NULL,
    created_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT,
    used_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL
    , address TEXT COLLATE "C", mailed_token_hash TEXT COLLATE "C", mailed_at BIGINT, organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE SET NULL, organisation_role TEXT COLLATE "C"
    CONSTRAINT invites_organisation_role CHECK (organisation_role IN ('GUEST', 'MEMBER', 'OWNER')))`,
    `CREATE TABLE issue_assignees (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE TABLE issue_entries (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    author_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    remote_author_id TEXT COLLATE "C" REFERENCES remote_actors (id) ON DELETE SET NULL,
    author_name TEXT COLLATE "C",
    body TEXT COLLATE "C",
    details TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    via TEXT COLLATE "C" NOT NULL DEFAULT 'web' CONSTRAINT issue_entries_via
    CHECK (via IN ('web', 'api', 'git', 'mail', 'cli', 'federation', 'import', 'server')),
    origin TEXT COLLATE "C",
    revision BIGINT NOT NULL DEFAULT 1,
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    held_at BIGINT,
    announced_at BIGINT,
    attempts BIGINT NOT NULL DEFAULT 0,
    tried_at BIGINT,
    last_error TEXT COLLATE "C",
    parked_at BIGINT,
    PRIMARY KEY (issue_id, position)
    )`,
    `CREATE TABLE labels (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    colour TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL DEFAULT '',
    is_exclusive BIGINT NOT NULL DEFAULT 0,
    CONSTRAINT labels_one_scope CHECK ((repository_id IS NULL) <> (organisation_id IS NULL))
    )`,
    `CREATE TABLE issue_labels (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    label_id TEXT COLLATE "C" NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    PRIMARY KEY (issue_id, label_id)
    )`,
    `CREATE TABLE issue_links (
    from_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    to_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT issue_links_kind CHECK (kind IN ('mentions', 'closes', 'needs', 'duplicates')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (from_id, to_id, kind)
    )`,
    `CREATE TABLE issue_mentions (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE TABLE issue_numbers (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    last BIGINT NOT NULL,
    open_issues BIGINT NOT NULL DEFAULT 0,
    closed_issues BIGINT NOT NULL DEFAULT 0,
    open_pulls BIGINT NOT NULL DEFAULT 0,
    closed_pulls BIGINT NOT NULL DEFAULT 0
    )`,
    `CREATE TABLE issue_serials (
    serial BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE issue_settings (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    issues_from TEXT COLLATE "C" NOT NULL DEFAULT 'anyone' CONSTRAINT issue_settings_from CHECK (issues_from IN ('nobody', 'members', 'anyone')),
    holds_newcomers BIGINT NOT NULL DEFAULT 0
    , pulls_from TEXT COLLATE "C" NOT NULL DEFAULT 'anyone'
    CONSTRAINT issue_settings_pulls_from CHECK (pulls_from IN ('nobody', 'members', 'anyone')), deletes_merged_branches BIGINT NOT NULL DEFAULT 0, ci_approval TEXT COLLATE "C" NOT NULL DEFAULT 'everyone'
    CONSTRAINT issue_settings_ci_approval CHECK (ci_approval IN ('everyone', 'first_time')))`,
    `CREATE TABLE job_runs (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    last_started_at BIGINT NOT NULL,
    last_took_ms BIGINT NOT NULL,
    last_error TEXT COLLATE "C",
    failures BIGINT NOT NULL DEFAULT 0
    )`,
    `CREATE TABLE known_sign_ins (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    device TEXT COLLATE "C" NOT NULL,
    network TEXT COLLATE "C" NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, device, network)
    )`,
    `CREATE TABLE language_counts (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    commit_id TEXT COLLATE "C",
    counted_at BIGINT NOT NULL
    )`,
    `CREATE TABLE leases (
    name TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    until BIGINT)`,
    `CREATE TABLE lfs_locks (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    path TEXT COLLATE "C" NOT NULL,
    ref TEXT COLLATE "C",
    owner_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    locked_at BIGINT NOT NULL,
    CONSTRAINT lfs_locks_path UNIQUE (repository_id, path)
    )`,
    `CREATE TABLE lfs_objects (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    oid TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    shared BIGINT NOT NULL DEFAULT 0,
    uploader_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    arrived_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    unreferenced_since BIGINT,
    removing_at BIGINT,
    PRIMARY KEY (repository_id, oid)
    )`,
    `CREATE TABLE lfs_repositories (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    is_enabled BIGINT NOT NULL DEFAULT 1,
    objects BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    shared_bytes BIGINT NOT NULL DEFAULT 0,
    scanned_at BIGINT,
    scan_error TEXT COLLATE "C"
    )`,
    `CREATE TABLE migrations ("id" BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "timestamp" bigint NOT NULL, "name" TEXT COLLATE "C" NOT NULL, applied_at BIGINT)`,
    `CREATE TABLE mirrors (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    direction TEXT COLLATE "C" NOT NULL CONSTRAINT mirrors_direction CHECK (direction IN ('pull', 'push')),
    url TEXT COLLATE "C" NOT NULL,
    username TEXT COLLATE "C" NOT NULL DEFAULT '',
    secret_ciphertext TEXT COLLATE "C",
    interval_ms BIGINT,
    prune BIGINT NOT NULL DEFAULT 1,
    is_paused BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    last_error TEXT COLLATE "C",
    last_started_at BIGINT,
    last_ok_at BIGINT,
    next_at BIGINT NOT NULL,
    locked_until BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
    , ssh_key_ciphertext TEXT COLLATE "C", ssh_public_key TEXT COLLATE "C", host_key TEXT COLLATE "C", offered_host_key TEXT COLLATE "C", with_releases BIGINT NOT NULL DEFAULT 0)`,
    `CREATE TABLE moved_issues (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    moved_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, number)
    )`,
    `CREATE TABLE muted_notices (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, kind)
    )`,
    `CREATE TABLE notification_batches (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    payload TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    last_error TEXT COLLATE "C"
    )`,
    `CREATE TABLE notification_counts (
    user_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    unread BIGINT NOT NULL,
    stored BIGINT NOT NULL
    )`,
    `CREATE TABLE notification_feeds (
    user_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_hash TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE notification_mails (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    due_at BIGINT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL CONSTRAINT notification_mails_digest CHECK (digest IN ('immediately', 'daily', 'weekly')),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    issue_id TEXT COLLATE "C" REFERENCES issues (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL,
    details TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    first_position BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    PRIMARY KEY (user_id, subject, due_at)
    )`,
    `CREATE TABLE notification_rules (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT notification_rules_reason CHECK (reason IN ('mention', 'review_asked', 'assigned', 'author', 'reply', 'approved', 'merged', 'ci_failed', 'release', 'watching')),
    channel TEXT COLLATE "C" NOT NULL CONSTRAINT notification_rules_channel CHECK (channel IN ('inbox', 'mail', 'feed')),
    is_on BIGINT NOT NULL,
    PRIMARY KEY (user_id, reason, channel)
    )`,
    `CREATE TABLE notification_settings (
    user_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    digest TEXT COLLATE "C" NOT NULL CONSTRAINT notification_settings_digest CHECK (digest IN ('immediately', 'daily', 'weekly'))
    )`,
    `CREATE TABLE notifications (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    subject TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    issue_id TEXT COLLATE "C" REFERENCES issues (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT notifications_reason CHECK (reason IN ('mention', 'review_asked', 'assigned', 'author', 'reply', 'approved', 'merged', 'ci_failed', 'release', 'watching')),
    details TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    context TEXT COLLATE "C" NOT NULL DEFAULT '',
    first_position BIGINT NOT NULL,
    last_position BIGINT NOT NULL,
    listed_at BIGINT,
    fed_at BIGINT,
    read_at BIGINT,
    done_at BIGINT,
    saved_at BIGINT,
    resolved_at BIGINT,
    CONSTRAINT notifications_subject UNIQUE (user_id, subject)
    )`,
    `CREATE TABLE organisation_members (
    organisation_id TEXT COLLATE "C" NOT NULL REFERENCES organisations (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role TEXT COLLATE "C" NOT NULL
    CONSTRAINT organisation_members_role CHECK (role IN ('GUEST', 'MEMBER', 'OWNER')),
    created_at BIGINT NOT NULL, mapped_by TEXT COLLATE "C",
    PRIMARY KEY (organisation_id, user_id)
    )`,
    `CREATE TABLE outbox (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    payload TEXT COLLATE "C",
    state TEXT COLLATE "C" NOT NULL
    CONSTRAINT outbox_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED')),
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    last_error TEXT COLLATE "C"
    )`,
    `CREATE TABLE owner_blocks (
    owner_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL DEFAULT '',
    blocked_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner_id, user_id)
    )`,
    `CREATE TABLE passkeys (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id TEXT COLLATE "C" NOT NULL,
    public_key TEXT COLLATE "C" NOT NULL,
    counter BIGINT NOT NULL,
    transports TEXT COLLATE "C" NOT NULL,
    is_synced BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT)`,
    `CREATE TABLE person_identities (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
    )`,
    `CREATE TABLE pins (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    PRIMARY KEY (user_id, repository_id)
    )`,
    `CREATE TABLE pull_rounds (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    round BIGINT NOT NULL,
    head_oid TEXT COLLATE "C" NOT NULL,
    base_oid TEXT COLLATE "C" NOT NULL,
    commit_count BIGINT NOT NULL,
    change TEXT COLLATE "C" NOT NULL CONSTRAINT pull_rounds_change CHECK (change IN ('first', 'added', 'rebased', 'edited', 'unknown')),
    note TEXT COLLATE "C" NOT NULL DEFAULT '',
    push_id TEXT COLLATE "C" REFERENCES pushes (id) ON DELETE SET NULL,
    submitter_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL, bytes BIGINT NOT NULL DEFAULT 0, submitter_name TEXT COLLATE "C",
    PRIMARY KEY (issue_id, round)
    )`,
    `CREATE TABLE pull_commits (
    issue_id TEXT COLLATE "C" NOT NULL,
    round BIGINT NOT NULL,
    position BIGINT NOT NULL,
    oid TEXT COLLATE "C" NOT NULL,
    change_id TEXT COLLATE "C",
    subject TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (issue_id, round, position),
    FOREIGN KEY (issue_id, round) REFERENCES pull_rounds (issue_id, round) ON DELETE CASCADE
    )`,
    `CREATE TABLE pull_pushes (
    push_id TEXT COLLATE "C" NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    base_branch TEXT COLLATE "C" NOT NULL,
    topic TEXT COLLATE "C",
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    position BIGINT NOT NULL DEFAULT 0,
    oid TEXT COLLATE "C",
    below_oid TEXT COLLATE "C",
    PRIMARY KEY (push_id, number)
    )`,
    `CREATE TABLE pull_queue (
    issue_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    base_branch TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL DEFAULT 'WAITING' CONSTRAINT pull_queue_state CHECK (state IN ('WAITING', 'TESTING')),
    round BIGINT NOT NULL,
    added_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    merge TEXT COLLATE "C" NOT NULL,
    added_at BIGINT NOT NULL,
    onto_oid TEXT COLLATE "C",
    candidate_oid TEXT COLLATE "C",
    tested_since BIGINT,
    run_count BIGINT NOT NULL DEFAULT 0
    )`,
    `CREATE TABLE pull_skipped_checks (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    head_oid TEXT COLLATE "C" NOT NULL,
    base_branch TEXT COLLATE "C" NOT NULL,
    contexts TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issue_id, head_oid, base_branch)
    )`,
    `CREATE TABLE push_announcements (
    push_id TEXT COLLATE "C" NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
    listener TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (push_id, listener)
    )`,
    `CREATE TABLE push_listener_attempts (
    push_id TEXT COLLATE "C" NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
    listener TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    last_error TEXT COLLATE "C", ends BIGINT NOT NULL DEFAULT 0, begun_at BIGINT,
    PRIMARY KEY (push_id, listener)
    )`,
    `CREATE TABLE push_updates (
    push_id TEXT COLLATE "C" NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    ref TEXT COLLATE "C" NOT NULL,
    old_id TEXT COLLATE "C" NOT NULL,
    new_id TEXT COLLATE "C" NOT NULL,
    result TEXT COLLATE "C" CONSTRAINT push_updates_result CHECK (result IN ('ok', 'rejected')),
    reason TEXT COLLATE "C", forced BIGINT, kept_until BIGINT,
    PRIMARY KEY (push_id, position)
    )`,
    `CREATE TABLE reactions (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT reactions_kind
    CHECK (kind IN ('+1', '-1', 'laugh', 'heart', 'hooray', 'confused', 'rocket', 'eyes')),
    PRIMARY KEY (issue_id, position, kind, user_id)
    )`,
    `CREATE TABLE received_pushes (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    actor_id TEXT COLLATE "C" NOT NULL,
    activity_id TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    hash_before TEXT COLLATE "C",
    hash_after TEXT COLLATE "C",
    commit_count BIGINT NOT NULL,
    commits TEXT COLLATE "C" NOT NULL,
    pushed_at BIGINT NOT NULL,
    received_at BIGINT NOT NULL
    , is_forced BIGINT NOT NULL DEFAULT 0, pusher TEXT COLLATE "C")`,
    `CREATE TABLE recovery_codes (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, code_hash))`,
    `CREATE TABLE release_counts (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    published BIGINT NOT NULL,
    drafts BIGINT NOT NULL,
    bytes BIGINT NOT NULL
    )`,
    `CREATE TABLE releases (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    tag TEXT COLLATE "C" NOT NULL,
    tag_oid TEXT COLLATE "C",
    target TEXT COLLATE "C" NOT NULL,
    tag_message TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    is_draft BIGINT NOT NULL,
    is_prerelease BIGINT NOT NULL,
    author_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    author_name TEXT COLLATE "C",
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    published_at BIGINT,
    listed_at BIGINT NOT NULL
    , origin TEXT COLLATE "C")`,
    `CREATE TABLE release_files (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    release_id TEXT COLLATE "C" NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL,
    downloads BIGINT NOT NULL,
    uploader_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    created_at BIGINT NOT NULL
    , origin TEXT COLLATE "C")`,
    `CREATE TABLE remote_follows (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    remote_actor_id TEXT COLLATE "C" NOT NULL,
    remote_inbox TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C",
    follow_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CONSTRAINT remote_follows_state CHECK (state IN ('PENDING', 'ACCEPTED')),
    created_at BIGINT NOT NULL,
    accepted_at BIGINT
    , via_user_actor_id TEXT COLLATE "C", gone_at BIGINT)`,
    `CREATE TABLE remote_user_follows (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    remote_actor_id TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    handle TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C",
    total_items BIGINT,
    created_at BIGINT NOT NULL,
    next_scan_at BIGINT NOT NULL,
    scan_error TEXT COLLATE "C"
    )`,
    `CREATE TABLE remote_user_repositories (
    user_follow_id TEXT COLLATE "C" NOT NULL REFERENCES remote_user_follows (id) ON DELETE CASCADE,
    remote_actor_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_follow_id, remote_actor_id)
    )`,
    `CREATE TABLE removed_rounds (
    repository_id TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    oid TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (repository_id, number, oid)
    )`,
    `CREATE TABLE repository_followers (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    actor_id TEXT COLLATE "C" NOT NULL,
    inbox TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    follow_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, actor_id)
    )`,
    `CREATE TABLE repository_languages (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    language TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (repository_id, position)
    )`,
    `CREATE TABLE repository_moves (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    to_owner_id TEXT COLLATE "C" NOT NULL
    )`,
    `CREATE TABLE repository_redirects (
    owner_id TEXT COLLATE "C" NOT NULL,
    name_folded TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (owner_id, name_folded)
    )`,
    `CREATE TABLE repository_topics (
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    topic TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (repository_id, topic)
    )`,
    `CREATE TABLE repository_transfers (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    new_owner_id TEXT COLLATE "C" NOT NULL,
    new_owner_kind TEXT COLLATE "C" NOT NULL
    CONSTRAINT repository_transfers_kind CHECK (new_owner_kind IN ('user', 'organisation')),
    offered_by TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL
    )`,
    `CREATE TABLE review_threads (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    round BIGINT NOT NULL,
    commit_oid TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C",
    side TEXT COLLATE "C" CONSTRAINT review_threads_side CHECK (side IN ('OLD', 'NEW')),
    first_line BIGINT,
    last_line BIGINT,
    quoted TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    resolved_at BIGINT,
    resolved_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL, resolved_by_name TEXT COLLATE "C",
    CONSTRAINT review_threads_lines CHECK ((first_line IS NULL) = (last_line IS NULL) AND (first_line IS NULL
    OR (path IS NOT NULL AND side IS NOT NULL AND first_line >= 1 AND first_line <= last_line)))
    )`,
    `CREATE TABLE reviews (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    round BIGINT NOT NULL,
    author_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    verdict TEXT COLLATE "C" CONSTRAINT reviews_verdict CHECK (verdict IN ('COMMENT', 'APPROVE', 'REQUEST_CHANGES')),
    body TEXT COLLATE "C" NOT NULL DEFAULT '',
    position BIGINT,
    created_at BIGINT NOT NULL,
    submitted_at BIGINT,
    dismissed_at BIGINT,
    dismissed_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    dismissal_reason TEXT COLLATE "C", author_name TEXT COLLATE "C", dismissed_by_name TEXT COLLATE "C",
    CONSTRAINT reviews_submitted CHECK ((submitted_at IS NULL) = (verdict IS NULL))
    )`,
    `CREATE TABLE review_comments (
    thread_id TEXT COLLATE "C" NOT NULL REFERENCES review_threads (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    review_id TEXT COLLATE "C" NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    author_id TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    author_name TEXT COLLATE "C",
    body TEXT COLLATE "C" NOT NULL,
    applied_oid TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    edited_at BIGINT,
    deleted_at BIGINT,
    PRIMARY KEY (thread_id, position)
    )`,
    `CREATE TABLE review_requests (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT review_requests_reason CHECK (reason IN ('asked', 'owner')),
    asked_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    asked_at BIGINT NOT NULL,
    answered_at BIGINT,
    PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE TABLE search_changes (
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT search_changes_kind CHECK (kind IN ('repository', 'person', 'entry')),
    id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, id)
    )`,
    `CREATE TABLE search_entries (
    place BIGINT NOT NULL PRIMARY KEY,
    issue_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    folded TEXT COLLATE "C" NOT NULL
    )`,
    `CREATE TABLE search_people (
    place BIGINT NOT NULL PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    hit TEXT COLLATE "C" NOT NULL
  )`,
    `CREATE TABLE search_repositories (
    place BIGINT NOT NULL PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    owner_user_id TEXT COLLATE "C",
    owner_org_id TEXT COLLATE "C",
    visibility TEXT COLLATE "C" NOT NULL,
    deleted_at BIGINT,
    folded TEXT COLLATE "C" NOT NULL,
    hit TEXT COLLATE "C" NOT NULL
  )`,
    `CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    token_hash TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL DEFAULT '',
    user_agent TEXT COLLATE "C" NOT NULL DEFAULT ''
    , method TEXT COLLATE "C" NOT NULL DEFAULT 'password'
    CONSTRAINT sessions_method CHECK (method IN ('password', 'passkey', 'provider', 'link')), factor TEXT COLLATE "C"
    CONSTRAINT sessions_factor CHECK (factor IN ('totp', 'recovery', 'passkey')), confirmed_at BIGINT NOT NULL DEFAULT 0)`,
    `CREATE TABLE setup_tokens (
    token_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
    )`,
    `CREATE TABLE sign_in_challenges (
    token_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    method TEXT COLLATE "C" NOT NULL
    CONSTRAINT sign_in_challenges_method CHECK (method IN ('password', 'passkey', 'provider', 'link')),
    attempts BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL)`,
    `CREATE TABLE sign_in_links (
    token_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
    )`,
    `CREATE TABLE ssh_keys (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    blob_base64 TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    last_used_address TEXT COLLATE "C"
    , uses TEXT COLLATE "C" NOT NULL DEFAULT 'authentication'
    CONSTRAINT ssh_keys_uses CHECK (uses IN ('authentication', 'signing', 'both')))`,
    `CREATE TABLE star_counts (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    stars BIGINT NOT NULL
    )`,
    `CREATE TABLE stars (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repository_id)
    )`,
    `CREATE TABLE storages (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CONSTRAINT storages_kind CHECK (kind IN ('local', 'shared')),
    node TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    until BIGINT)`,
    `CREATE TABLE subscriptions (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    is_on BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT subscriptions_reason
    CHECK (reason IN ('author', 'comment', 'mention', 'assigned', 'manual')), from_position BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE TABLE team_members (
    team_id TEXT COLLATE "C" NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, user_id)
    )`,
    `CREATE TABLE team_repositories (
    team_id TEXT COLLATE "C" NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    role TEXT COLLATE "C" NOT NULL CONSTRAINT team_repositories_role CHECK (role IN ('read', 'write', 'admin')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, repository_id)
    )`,
    `CREATE TABLE team_review_requests (
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    team_id TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL CONSTRAINT team_review_requests_reason CHECK (reason IN ('asked', 'owner')),
    asked_by TEXT COLLATE "C" REFERENCES users (id) ON DELETE SET NULL,
    asked_at BIGINT NOT NULL,
    answered_at BIGINT,
    PRIMARY KEY (issue_id, team_id),
    FOREIGN KEY (team_id, repository_id) REFERENCES team_repositories (team_id, repository_id) ON DELETE CASCADE
    )`,
    `CREATE TABLE team_serials (
    serial BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    team_id TEXT COLLATE "C" NOT NULL REFERENCES teams (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE thread_positions (
    thread_id TEXT COLLATE "C" NOT NULL REFERENCES review_threads (id) ON DELETE CASCADE,
    round BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL CONSTRAINT thread_positions_state CHECK (state IN ('same', 'moved', 'changed', 'gone')),
    path TEXT COLLATE "C",
    first_line BIGINT,
    last_line BIGINT,
    PRIMARY KEY (thread_id, round)
    )`,
    `CREATE TABLE totp_secrets (
    user_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    ciphertext TEXT COLLATE "C" NOT NULL,
    last_step BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    enabled_at BIGINT)`,
    `CREATE TABLE unfinished_forks (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    owner_id TEXT COLLATE "C" NOT NULL,
    storage_id TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL)`,
    `CREATE TABLE used_passkey_challenges (
    challenge_hash TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    expires_at BIGINT NOT NULL)`,
    `CREATE TABLE user_follows (
    follower_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    followed_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (follower_id, followed_id),
    CONSTRAINT user_follows_others CHECK (follower_id <> followed_id)
    )`,
    `CREATE TABLE viewed_files (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issue_id TEXT COLLATE "C" NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE,
    path TEXT COLLATE "C" NOT NULL,
    old_blob TEXT COLLATE "C" NOT NULL,
    new_blob TEXT COLLATE "C" NOT NULL,
    round BIGINT NOT NULL,
    PRIMARY KEY (user_id, issue_id, path)
    )`,
    `CREATE TABLE watch_counts (
    repository_id TEXT COLLATE "C" PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    watching BIGINT NOT NULL
    )`,
    `CREATE TABLE watches (
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    level TEXT COLLATE "C" NOT NULL CONSTRAINT watches_level CHECK (level IN ('everything', 'participating', 'releases', 'ignore')),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, repository_id)
    )`,
    `CREATE TABLE webhooks (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    repository_id TEXT COLLATE "C" REFERENCES repositories (id) ON DELETE CASCADE,
    organisation_id TEXT COLLATE "C" REFERENCES organisations (id) ON DELETE CASCADE,
    url TEXT COLLATE "C" NOT NULL,
    secret_ciphertext TEXT COLLATE "C",
    events TEXT COLLATE "C" NOT NULL,
    is_active BIGINT NOT NULL DEFAULT 1,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, kind TEXT COLLATE "C" NOT NULL DEFAULT 'gitea', content_type TEXT COLLATE "C" NOT NULL DEFAULT 'json', branch_filter TEXT COLLATE "C" NOT NULL DEFAULT '', channel TEXT COLLATE "C" NOT NULL DEFAULT '', authorization_ciphertext TEXT COLLATE "C",
    CONSTRAINT webhooks_one_scope CHECK ((repository_id IS NULL) <> (organisation_id IS NULL))
    )`,
    `CREATE TABLE webhook_messages (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY REFERENCES outbox (id) ON DELETE CASCADE,
    uuid TEXT COLLATE "C" NOT NULL,
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event TEXT COLLATE "C" NOT NULL,
    about TEXT COLLATE "C",
    tried_at BIGINT,
    took_ms BIGINT,
    status BIGINT,
    response TEXT COLLATE "C",
    redelivery_of BIGINT
    )`,
    `CREATE INDEX access_token_repositories_repository ON access_token_repositories (repository_id)`,
    `CREATE UNIQUE INDEX access_tokens_token_hash ON access_tokens (token_hash)`,
    `CREATE UNIQUE INDEX access_tokens_user_name ON access_tokens (user_id, name)`,
    `CREATE INDEX account_links_address ON account_links (address_key, created_at)`,
    `CREATE INDEX account_links_expiry ON account_links (expires_at)`,
    `CREATE INDEX account_links_user ON account_links (user_id, created_at)`,
    `CREATE INDEX attachment_uses_entry ON attachment_uses (issue_id, position)`,
    `CREATE INDEX attachments_issue ON attachments (issue_id) WHERE issue_id IS NOT NULL`,
    `CREATE INDEX attachments_repository ON attachments (repository_id)`,
    `CREATE INDEX attachments_unused ON attachments (created_at, id) WHERE issue_id IS NULL`,
    `CREATE INDEX attachments_uploader ON attachments (uploader_id) WHERE uploader_id IS NOT NULL`,
    `CREATE INDEX attention_issue ON attention (issue_id)`,
    `CREATE INDEX attention_oldest ON attention (user_id, since, issue_id)`,
    `CREATE INDEX audit_log_event ON audit_log (event, id)`,
    `CREATE INDEX branch_rule_people_person ON branch_rule_people (user_id)`,
    `CREATE INDEX branch_rule_teams_team ON branch_rule_teams (team_id)`,
    `CREATE INDEX ci_annotations_commit ON ci_annotations (repository_id, commit_id, task_id, row_number)`,
    `CREATE INDEX ci_annotations_run ON ci_annotations (run_id)`,
    `CREATE INDEX ci_artifacts_expiry ON ci_artifacts (expires_at) WHERE state <> 'removed'`,
    `CREATE INDEX ci_artifacts_file ON ci_artifacts (file)`,
    `CREATE INDEX ci_artifacts_repository ON ci_artifacts (repository_id, id)`,
    `CREATE INDEX ci_artifacts_run ON ci_artifacts (run_id, name)`,
    `CREATE INDEX ci_artifacts_state ON ci_artifacts (state, expires_at)`,
    `CREATE INDEX ci_disabled_workflows_by ON ci_disabled_workflows (disabled_by)`,
    `CREATE INDEX ci_jobs_group ON ci_jobs (repository_id, concurrency_group) WHERE concurrency_state IS NOT NULL`,
    `CREATE INDEX ci_jobs_repository ON ci_jobs (repository_id)`,
    `CREATE INDEX ci_jobs_run ON ci_jobs (run_id, attempt, position)`,
    `CREATE INDEX ci_jobs_status ON ci_jobs (status, repository_id)`,
    `CREATE INDEX ci_jobs_waiting ON ci_jobs (waiting_since, id) WHERE status = 'waiting'`,
    `CREATE INDEX ci_pending_events_actor ON ci_pending_events (actor_id)`,
    `CREATE INDEX ci_pending_events_repository ON ci_pending_events (repository_id)`,
    `CREATE UNIQUE INDEX ci_registration_tokens_hash ON ci_registration_tokens (token_hash)`,
    `CREATE INDEX ci_registration_tokens_scope ON ci_registration_tokens (repository_id, organisation_id, user_id, id)`,
    `CREATE INDEX ci_runners_scope ON ci_runners (repository_id, organisation_id, user_id, id)`,
    `CREATE UNIQUE INDEX ci_runners_uuid ON ci_runners (uuid)`,
    `CREATE INDEX ci_runs_active ON ci_runs (status) WHERE finished_at IS NULL`,
    `CREATE INDEX ci_runs_approvals ON ci_runs (repository_id, ref, approval, number) WHERE approval IS NOT NULL`,
    `CREATE INDEX ci_runs_file ON ci_runs (file_hash)`,
    `CREATE INDEX ci_runs_filtered ON ci_runs (repository_id, number, status, event, workflow_path, ref, actor_id)`,
    `CREATE INDEX ci_runs_group ON ci_runs (repository_id, concurrency_group) WHERE concurrency_state IS NOT NULL`,
    `CREATE UNIQUE INDEX ci_runs_number ON ci_runs (repository_id, number)`,
    `CREATE INDEX ci_runs_ref ON ci_runs (repository_id, ref, id)`,
    `CREATE INDEX ci_runs_unfinished ON ci_runs (finished_at, id)`,
    `CREATE INDEX ci_runs_workflow ON ci_runs (repository_id, workflow_path, number)`,
    `CREATE INDEX ci_schedules_next ON ci_schedules (next_at)`,
    `CREATE UNIQUE INDEX ci_secrets_name ON ci_secrets (COALESCE(repository_id, organisation_id, user_id, ''), name)`,
    `CREATE INDEX ci_secrets_scope ON ci_secrets (repository_id, organisation_id, user_id, name)`,
    `CREATE INDEX ci_tasks_job ON ci_tasks (job_id)`,
    `CREATE INDEX ci_tasks_logs ON ci_tasks (stopped_at, id) WHERE log_removed_at IS NULL`,
    `CREATE INDEX ci_tasks_open ON ci_tasks (stopped_at, id) WHERE sealed_at IS NULL`,
    `CREATE INDEX ci_tasks_runner ON ci_tasks (runner_id, id)`,
    `CREATE INDEX ci_tasks_status ON ci_tasks (status, id)`,
    `CREATE UNIQUE INDEX ci_tasks_token ON ci_tasks (token_hash)`,
    `CREATE UNIQUE INDEX ci_variables_name ON ci_variables (COALESCE(repository_id, organisation_id, user_id, ''), name)`,
    `CREATE INDEX ci_variables_scope ON ci_variables (repository_id, organisation_id, user_id, name)`,
    `CREATE INDEX collaborators_user ON collaborators (user_id)`,
    `CREATE INDEX commit_counts_author ON commit_counts (author_key, day, repository_id, commits)`,
    `CREATE INDEX commit_counts_day ON commit_counts (repository_id, day)`,
    `CREATE INDEX contributors_user ON contributors (user_id)`,
    `CREATE INDEX deploy_keys_added_by ON deploy_keys (added_by) WHERE added_by IS NOT NULL`,
    `CREATE UNIQUE INDEX deploy_keys_fingerprint ON deploy_keys (fingerprint)`,
    `CREATE INDEX deploy_keys_repository ON deploy_keys (repository_id, created_at, id)`,
    `CREATE INDEX drafts_age ON drafts (user_id, updated_at)`,
    `CREATE UNIQUE INDEX email_addresses_primary ON email_addresses (user_id) WHERE is_primary = 1`,
    `CREATE UNIQUE INDEX email_addresses_user_key ON email_addresses (user_id, address_key)`,
    `CREATE UNIQUE INDEX email_addresses_verified ON email_addresses (address_key) WHERE verified_at IS NOT NULL`,
    `CREATE INDEX entry_listener_attempts_by_ends ON entry_listener_attempts (ends)`,
    `CREATE INDEX entry_revisions_editor ON entry_revisions (editor_id) WHERE editor_id IS NOT NULL`,
    `CREATE INDEX federation_delivery_cancelled ON federation_delivery (cancelled_at) WHERE cancelled_at IS NOT NULL`,
    `CREATE INDEX federation_delivery_due ON federation_delivery (host, next_attempt_at, id) WHERE state = 'PENDING'`,
    `CREATE INDEX federation_delivery_host ON federation_delivery (host, state, id)`,
    `CREATE INDEX federation_delivery_open ON federation_delivery (host, state)
    WHERE state <> 'DELIVERED' AND cancelled_at IS NULL`,
    `CREATE INDEX federation_delivery_outbox ON federation_delivery (outbox_id)`,
    `CREATE INDEX federation_delivery_settled ON federation_delivery (state, settled_at) WHERE state <> 'PENDING'`,
    `CREATE INDEX federation_delivery_state ON federation_delivery (state, id)`,
    `CREATE INDEX federation_inbox_age ON federation_inbox (received_at)`,
    `CREATE INDEX federation_keys_created ON federation_keys (created_at, ap_path)`,
    `CREATE UNIQUE INDEX federation_keys_owner ON federation_keys (kind, owner_id)`,
    `CREATE INDEX federation_outbox_age ON federation_outbox (created_at) WHERE is_public = 0`,
    `CREATE INDEX federation_outbox_public ON federation_outbox (actor_path, is_public, created_at, id)`,
    `CREATE INDEX federation_peers_gone ON federation_peers (host) WHERE gone_at IS NOT NULL`,
    `CREATE INDEX gpg_key_parts_key ON gpg_key_parts (gpg_key_id)`,
    `CREATE UNIQUE INDEX gpg_keys_user ON gpg_keys (user_id, fingerprint)`,
    `CREATE UNIQUE INDEX handles_one_current_per_owner ON handles (owner_id) WHERE released_at IS NULL`,
    `CREATE INDEX handles_owner ON handles (owner_id)`,
    `CREATE INDEX held_contributions_person ON held_contributions (user_id, repository_id, issue_id, position)`,
    `CREATE INDEX held_contributions_repository ON held_contributions (repository_id, held_at, issue_id, position)`,
    `CREATE INDEX hidden_entries_person ON hidden_entries (hidden_by) WHERE hidden_by IS NOT NULL`,
    `CREATE UNIQUE INDEX invites_mailed_token_hash ON invites (mailed_token_hash) WHERE mailed_token_hash IS NOT NULL`,
    `CREATE INDEX invites_open ON invites (created_at, id) WHERE used_at IS NULL`,
    `CREATE INDEX invites_organisation ON invites (organisation_id) WHERE organisation_id IS NOT NULL`,
    `CREATE UNIQUE INDEX invites_token_hash ON invites (token_hash)`,
    `CREATE INDEX issue_assignees_user ON issue_assignees (user_id, issue_id)`,
    `CREATE INDEX issue_entries_author ON issue_entries (author_id, created_at) WHERE author_id IS NOT NULL`,
    `CREATE UNIQUE INDEX issue_entries_origin ON issue_entries (issue_id, origin) WHERE origin IS NOT NULL`,
    `CREATE INDEX issue_entries_parked ON issue_entries (parked_at) WHERE parked_at IS NOT NULL`,
    `CREATE INDEX issue_entries_remote_author ON issue_entries (remote_author_id) WHERE remote_author_id IS NOT NULL`,
    `CREATE INDEX issue_entries_unannounced ON issue_entries (created_at, issue_id, position) WHERE announced_at IS NULL AND parked_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issue_labels_label ON issue_labels (label_id, issue_id)`,
    `CREATE INDEX issue_links_to ON issue_links (to_id, kind)`,
    `CREATE INDEX issue_mentions_user ON issue_mentions (user_id, issue_id)`,
    `CREATE UNIQUE INDEX issue_serials_issue ON issue_serials (issue_id)`,
    `CREATE INDEX issues_all_comment_count ON issues (kind, state, comment_count, id) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issues_all_created_at ON issues (kind, state, created_at, id) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issues_all_updated_at ON issues (kind, state, updated_at, id) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issues_author ON issues (author_id, state, updated_at, id) WHERE author_id IS NOT NULL AND deleted_at IS NULL`,
    `CREATE INDEX issues_discussed ON issues (repository_id, kind, state, comment_count, number) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issues_locked ON issues (repository_id, locked_at) WHERE locked_at IS NOT NULL AND deleted_at IS NULL`,
    `CREATE INDEX issues_milestone ON issues (milestone_id, state, number) WHERE milestone_id IS NOT NULL`,
    `CREATE INDEX issues_newest ON issues (repository_id, kind, state, number) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE UNIQUE INDEX issues_origin ON issues (repository_id, origin) WHERE origin IS NOT NULL`,
    `CREATE INDEX issues_person ON issues (author_id) WHERE author_id IS NOT NULL`,
    `CREATE INDEX issues_pinned ON issues (repository_id, pinned_at) WHERE pinned_at IS NOT NULL AND deleted_at IS NULL`,
    `CREATE INDEX issues_remote_author ON issues (remote_author_id) WHERE remote_author_id IS NOT NULL`,
    `CREATE INDEX issues_trash ON issues (repository_id, deleted_at, id) WHERE deleted_at IS NOT NULL`,
    `CREATE INDEX issues_trash_due ON issues (deleted_at) WHERE deleted_at IS NOT NULL`,
    `CREATE INDEX issues_updated ON issues (repository_id, kind, state, updated_at, number) WHERE deleted_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX labels_name ON labels (name_folded)`,
    `CREATE UNIQUE INDEX labels_organisation_name ON labels (organisation_id, name_folded) WHERE organisation_id IS NOT NULL`,
    `CREATE UNIQUE INDEX labels_repository_name ON labels (repository_id, name_folded) WHERE repository_id IS NOT NULL`,
    `CREATE INDEX lfs_locks_owner ON lfs_locks (owner_id)`,
    `CREATE INDEX lfs_objects_removing ON lfs_objects (removing_at) WHERE removing_at IS NOT NULL`,
    `CREATE INDEX lfs_objects_unreferenced ON lfs_objects (repository_id, unreferenced_since)
    WHERE unreferenced_since IS NOT NULL`,
    `CREATE INDEX lfs_objects_uploader ON lfs_objects (uploader_id, repository_id) WHERE uploader_id IS NOT NULL`,
    `CREATE INDEX milestones_name ON milestones (title_folded)`,
    `CREATE UNIQUE INDEX milestones_title ON milestones (repository_id, title_folded)`,
    `CREATE INDEX mirrors_due ON mirrors (next_at) WHERE is_paused = 0`,
    `CREATE INDEX mirrors_failing ON mirrors (failures DESC, repository_id) WHERE failures > 0`,
    `CREATE INDEX moved_issues_issue ON moved_issues (issue_id)`,
    `CREATE INDEX notification_batches_due ON notification_batches (next_at, id)`,
    `CREATE INDEX notification_counts_stored ON notification_counts (stored)`,
    `CREATE UNIQUE INDEX notification_feeds_token ON notification_feeds (token_hash)`,
    `CREATE INDEX notification_mails_age ON notification_mails (due_at)`,
    `CREATE INDEX notification_mails_due ON notification_mails (user_id, due_at, subject)`,
    `CREATE INDEX notification_mails_issue ON notification_mails (issue_id) WHERE issue_id IS NOT NULL`,
    `CREATE INDEX notification_mails_repository ON notification_mails (repository_id)`,
    `CREATE INDEX notifications_done ON notifications (user_id, done_at, id) WHERE done_at IS NOT NULL`,
    `CREATE INDEX notifications_done_age ON notifications (done_at) WHERE done_at IS NOT NULL AND saved_at IS NULL`,
    `CREATE INDEX notifications_failing ON notifications (subject, context) WHERE resolved_at IS NULL AND issue_id IS NULL`,
    `CREATE INDEX notifications_feed ON notifications (user_id, fed_at, id) WHERE fed_at IS NOT NULL`,
    `CREATE INDEX notifications_inbox ON notifications (user_id, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_issue ON notifications (issue_id) WHERE issue_id IS NOT NULL`,
    `CREATE INDEX notifications_place ON notifications (user_id, repository_id, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_read ON notifications (user_id, read_at) WHERE read_at IS NOT NULL`,
    `CREATE INDEX notifications_reason ON notifications (user_id, reason, listed_at, id) WHERE listed_at IS NOT NULL AND done_at IS NULL`,
    `CREATE INDEX notifications_repository ON notifications (repository_id)`,
    `CREATE INDEX notifications_saved ON notifications (user_id, saved_at, id) WHERE saved_at IS NOT NULL`,
    `CREATE INDEX notifications_unread ON notifications (user_id, listed_at, id) WHERE listed_at IS NOT NULL AND read_at IS NULL AND done_at IS NULL`,
    `CREATE INDEX organisation_members_role ON organisation_members (organisation_id, role)`,
    `CREATE INDEX organisation_members_user ON organisation_members (user_id)`,
    `CREATE INDEX organisations_created ON organisations (created_at, id)`,
    `CREATE INDEX organisations_folded ON organisations (lower(name), id)`,
    `CREATE UNIQUE INDEX organisations_name ON organisations (name)`,
    `CREATE INDEX outbox_age ON outbox (kind, created_at) WHERE state <> 'PENDING'`,
    `CREATE INDEX outbox_due ON outbox (kind, key, next_at, id) WHERE state = 'PENDING'`,
    `CREATE INDEX outbox_state ON outbox (state, kind, next_at)`,
    `CREATE INDEX owner_blocks_person ON owner_blocks (blocked_by) WHERE blocked_by IS NOT NULL`,
    `CREATE INDEX owner_blocks_user ON owner_blocks (user_id)`,
    `CREATE UNIQUE INDEX passkeys_credential ON passkeys (credential_id)`,
    `CREATE INDEX passkeys_user ON passkeys (user_id, created_at)`,
    `CREATE UNIQUE INDEX person_identities_subject ON person_identities (issuer, subject)`,
    `CREATE INDEX person_identities_user ON person_identities (user_id, created_at)`,
    `CREATE INDEX pins_repository ON pins (repository_id)`,
    `CREATE INDEX pull_commits_change ON pull_commits (change_id) WHERE change_id IS NOT NULL`,
    `CREATE INDEX pull_commits_oid ON pull_commits (oid)`,
    `CREATE INDEX pull_pushes_number ON pull_pushes (repository_id, number)`,
    `CREATE INDEX pull_pushes_oldest ON pull_pushes (created_at)`,
    `CREATE INDEX pull_pushes_person ON pull_pushes (user_id, repository_id, created_at)`,
    `CREATE INDEX pull_queue_added_by ON pull_queue (added_by) WHERE added_by IS NOT NULL`,
    `CREATE INDEX pull_queue_candidate ON pull_queue (candidate_oid) WHERE candidate_oid IS NOT NULL`,
    `CREATE UNIQUE INDEX pull_queue_places ON pull_queue (repository_id, base_branch, position)`,
    `CREATE UNIQUE INDEX pull_queue_tested ON pull_queue (repository_id, base_branch) WHERE state = 'TESTING'`,
    `CREATE INDEX pull_rounds_base ON pull_rounds (base_oid)`,
    `CREATE INDEX pull_rounds_contributed ON pull_rounds (submitter_id) WHERE bytes > 0`,
    `CREATE INDEX pull_rounds_head ON pull_rounds (head_oid)`,
    `CREATE INDEX pulls_base ON pulls (repository_id, base_branch, is_open)`,
    `CREATE INDEX pulls_head ON pulls (head_repository_id, head_branch, is_open)`,
    `CREATE INDEX pulls_merge_push ON pulls (merge_push_id) WHERE merge_push_id IS NOT NULL`,
    `CREATE INDEX pulls_merged ON pulls (merged_oid, repository_id) WHERE merged_oid IS NOT NULL`,
    `CREATE UNIQUE INDEX pulls_one_per_branch ON pulls (repository_id, base_branch, head_repository_id, head_branch)
    WHERE is_open = 1 AND head_branch IS NOT NULL`,
    `CREATE UNIQUE INDEX pulls_one_per_topic ON pulls (repository_id, base_branch, submitter_id, topic)
    WHERE is_open = 1 AND topic IS NOT NULL`,
    `CREATE INDEX pulls_submitter ON pulls (submitter_id, repository_id, is_open)`,
    `CREATE INDEX pulls_unknown ON pulls (issue_id)
    WHERE is_open = 1 AND merge_state = 'UNKNOWN' AND merge_state_reason IS NULL`,
    `CREATE INDEX pulls_when_ready ON pulls (merge_when_ready_by) WHERE merge_when_ready_by IS NOT NULL`,
    `CREATE INDEX push_listener_attempts_by_ends ON push_listener_attempts (ends)`,
    `CREATE INDEX push_updates_kept ON push_updates (kept_until) WHERE kept_until IS NOT NULL`,
    `CREATE INDEX push_updates_kept_push ON push_updates (push_id, kept_until) WHERE kept_until IS NOT NULL`,
    `CREATE INDEX pushes_parked ON pushes (parked_at) WHERE parked_at IS NOT NULL`,
    `CREATE INDEX pushes_person ON pushes (user_id, created_at, repository_id, settled_at)
    WHERE user_id IS NOT NULL AND settled_at IS NOT NULL`,
    `CREATE INDEX pushes_person_repository ON pushes (user_id, repository_id) WHERE user_id IS NOT NULL`,
    `CREATE INDEX pushes_repository ON pushes (repository_id, created_at, id)`,
    `CREATE INDEX pushes_settled ON pushes (created_at) WHERE settled_at IS NOT NULL`,
    `CREATE INDEX pushes_unfinished ON pushes (created_at, id) WHERE announced_at IS NULL`,
    `CREATE INDEX reactions_user ON reactions (user_id)`,
    `CREATE UNIQUE INDEX received_pushes_activity ON received_pushes (actor_id, activity_id)`,
    `CREATE INDEX received_pushes_age ON received_pushes (received_at)`,
    `CREATE INDEX received_pushes_recent ON received_pushes (actor_id, pushed_at)`,
    `CREATE UNIQUE INDEX release_files_name ON release_files (release_id, name)`,
    `CREATE INDEX release_files_repository ON release_files (repository_id)`,
    `CREATE INDEX release_files_uploader ON release_files (uploader_id) WHERE uploader_id IS NOT NULL`,
    `CREATE INDEX releases_all ON releases (repository_id, listed_at, id)`,
    `CREATE INDEX releases_author ON releases (author_id) WHERE author_id IS NOT NULL`,
    `CREATE INDEX releases_latest ON releases (repository_id, listed_at, id)
    WHERE is_draft = 0 AND is_prerelease = 0`,
    `CREATE INDEX releases_published ON releases (repository_id, listed_at, id) WHERE is_draft = 0`,
    `CREATE UNIQUE INDEX releases_tag ON releases (repository_id, tag)`,
    `CREATE INDEX remote_actors_fetched ON remote_actors (fetched_at)`,
    `CREATE INDEX remote_actors_key ON remote_actors (key_id)`,
    `CREATE INDEX remote_follows_actor ON remote_follows (remote_actor_id)`,
    `CREATE INDEX remote_follows_created ON remote_follows (created_at, id)`,
    `CREATE INDEX remote_follows_follow ON remote_follows (follow_id)`,
    `CREATE UNIQUE INDEX remote_follows_user_actor ON remote_follows (user_id, remote_actor_id)`,
    `CREATE INDEX remote_follows_via ON remote_follows (user_id, via_user_actor_id) WHERE via_user_actor_id IS NOT NULL`,
    `CREATE INDEX remote_user_follows_actor ON remote_user_follows (remote_actor_id)`,
    `CREATE INDEX remote_user_follows_created ON remote_user_follows (created_at, id)`,
    `CREATE INDEX remote_user_follows_scan ON remote_user_follows (next_scan_at)`,
    `CREATE UNIQUE INDEX remote_user_follows_user_actor ON remote_user_follows (user_id, remote_actor_id)`,
    `CREATE INDEX repositories_created ON repositories (visibility, created_at, id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_forks ON repositories (forked_from_id, visibility, created_at, id)
    WHERE forked_from_id IS NOT NULL`,
    `CREATE INDEX repositories_named ON repositories (visibility, name_folded, id) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_org_created ON repositories (owner_org_id, visibility, created_at, id, name_folded) WHERE deleted_at IS NULL AND owner_org_id IS NOT NULL`,
    `CREATE UNIQUE INDEX repositories_org_name ON repositories (owner_org_id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_org_named ON repositories (owner_org_id, visibility, name_folded, id) WHERE deleted_at IS NULL AND owner_org_id IS NOT NULL`,
    `CREATE INDEX repositories_org_pushed ON repositories (owner_org_id, pushed_at, id) WHERE deleted_at IS NULL AND owner_org_id IS NOT NULL`,
    `CREATE INDEX repositories_org_updated ON repositories (owner_org_id, visibility, updated_at, id, name_folded) WHERE deleted_at IS NULL AND owner_org_id IS NOT NULL`,
    `CREATE INDEX repositories_sized ON repositories (visibility, size_bytes, id) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_trash ON repositories (deleted_at, id) WHERE deleted_at IS NOT NULL`,
    `CREATE INDEX repositories_updated ON repositories (visibility, updated_at, id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_user_created ON repositories (owner_user_id, visibility, created_at, id, name_folded) WHERE deleted_at IS NULL AND owner_user_id IS NOT NULL`,
    `CREATE UNIQUE INDEX repositories_user_name ON repositories (owner_user_id, name_folded) WHERE deleted_at IS NULL`,
    `CREATE INDEX repositories_user_named ON repositories (owner_user_id, visibility, name_folded, id) WHERE deleted_at IS NULL AND owner_user_id IS NOT NULL`,
    `CREATE INDEX repositories_user_pushed ON repositories (owner_user_id, pushed_at, id) WHERE deleted_at IS NULL AND owner_user_id IS NOT NULL`,
    `CREATE INDEX repositories_user_updated ON repositories (owner_user_id, visibility, updated_at, id, name_folded) WHERE deleted_at IS NULL AND owner_user_id IS NOT NULL`,
    `CREATE INDEX repository_followers_actor ON repository_followers (actor_id)`,
    `CREATE INDEX repository_followers_host ON repository_followers (host)`,
    `CREATE INDEX repository_followers_recent ON repository_followers (repository_id, created_at, actor_id)`,
    `CREATE INDEX repository_languages_language ON repository_languages (language, repository_id)`,
    `CREATE INDEX repository_redirects_repository ON repository_redirects (repository_id)`,
    `CREATE INDEX repository_topics_topic ON repository_topics (topic, repository_id)`,
    `CREATE INDEX repository_transfers_new_owner ON repository_transfers (new_owner_id)`,
    `CREATE INDEX review_comments_review ON review_comments (review_id)`,
    `CREATE INDEX review_requests_open ON review_requests (user_id, asked_at) WHERE answered_at IS NULL`,
    `CREATE INDEX review_threads_issue ON review_threads (issue_id, round)`,
    `CREATE INDEX reviews_issue ON reviews (issue_id, submitted_at)`,
    `CREATE UNIQUE INDEX reviews_one_draft ON reviews (issue_id, author_id) WHERE submitted_at IS NULL`,
    `CREATE UNIQUE INDEX search_entries_position ON search_entries (issue_id, position)`,
    `CREATE INDEX search_people_folded ON search_people (folded)`,
    `CREATE UNIQUE INDEX search_people_id ON search_people (id)`,
    `CREATE INDEX search_repositories_folded ON search_repositories (folded)`,
    `CREATE UNIQUE INDEX search_repositories_id ON search_repositories (id)`,
    `CREATE INDEX search_repositories_organisation ON search_repositories (owner_org_id) WHERE visibility <> 'PUBLIC'`,
    `CREATE INDEX search_repositories_user ON search_repositories (owner_user_id) WHERE visibility <> 'PUBLIC'`,
    `CREATE UNIQUE INDEX sessions_token_hash ON sessions (token_hash)`,
    `CREATE INDEX sessions_user ON sessions (user_id)`,
    `CREATE INDEX sign_in_challenges_expiry ON sign_in_challenges (expires_at)`,
    `CREATE INDEX sign_in_challenges_user ON sign_in_challenges (user_id, created_at)`,
    `CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at)`,
    `CREATE INDEX sign_in_links_user ON sign_in_links (user_id)`,
    `CREATE UNIQUE INDEX ssh_keys_fingerprint_user ON ssh_keys (fingerprint, user_id)`,
    `CREATE UNIQUE INDEX ssh_keys_sign_in ON ssh_keys (fingerprint) WHERE uses <> 'signing'`,
    `CREATE INDEX ssh_keys_user ON ssh_keys (user_id)`,
    `CREATE INDEX stars_age ON stars (user_id, created_at, repository_id)`,
    `CREATE INDEX stars_repository ON stars (repository_id, created_at, user_id)`,
    `CREATE INDEX subscriptions_user ON subscriptions (user_id, issue_id)`,
    `CREATE INDEX team_members_user ON team_members (user_id, team_id)`,
    `CREATE INDEX team_repositories_repository ON team_repositories (repository_id, team_id)`,
    `CREATE INDEX team_review_requests_asked_by ON team_review_requests (asked_by) WHERE asked_by IS NOT NULL`,
    `CREATE INDEX team_review_requests_open ON team_review_requests (team_id, asked_at) WHERE answered_at IS NULL`,
    `CREATE INDEX team_review_requests_role ON team_review_requests (team_id, repository_id)`,
    `CREATE UNIQUE INDEX team_serials_team ON team_serials (team_id)`,
    `CREATE INDEX used_passkey_challenges_expiry ON used_passkey_challenges (expires_at)`,
    `CREATE INDEX user_follows_followed ON user_follows (followed_id, created_at, follower_id)`,
    `CREATE INDEX user_follows_follower ON user_follows (follower_id, created_at, followed_id)`,
    `CREATE INDEX users_administrators ON users (is_administrator, id)`,
    `CREATE INDEX users_created ON users (created_at, id)`,
    `CREATE INDEX users_listed ON users (COALESCE(lower(username), '~' || id))`,
    `CREATE UNIQUE INDEX users_username ON users (username)`,
    `CREATE INDEX watches_age ON watches (user_id, created_at, repository_id)`,
    `CREATE INDEX watches_repository ON watches (repository_id, level, user_id)`,
    `CREATE INDEX webhook_messages_webhook ON webhook_messages (webhook_id, id)`,
    `CREATE INDEX webhooks_organisation ON webhooks (organisation_id) WHERE organisation_id IS NOT NULL`,
    `CREATE INDEX webhooks_repository ON webhooks (repository_id) WHERE repository_id IS NOT NULL`,
    `CREATE INDEX search_repositories_trigrams ON search_repositories USING gin (folded gin_trgm_ops)`,
    `CREATE INDEX search_people_trigrams ON search_people USING gin (folded gin_trgm_ops)`,
    `CREATE INDEX search_entries_trigrams ON search_entries USING gin (folded gin_trgm_ops)`,
    `CREATE VIEW team_grants AS
    SELECT m.user_id AS user_id, g.repository_id AS repository_id, g.role AS role, g.team_id AS team_id
    FROM team_members m JOIN team_repositories g ON g.team_id = m.team_id`,
    `CREATE VIEW team_reviewers AS
    SELECT tm.user_id AS user_id, q.issue_id AS issue_id, q.team_id AS team_id, q.asked_at AS since
    FROM team_members tm
    JOIN team_review_requests q ON q.team_id = tm.team_id AND q.answered_at IS NULL
    JOIN pulls p ON p.issue_id = q.issue_id
    JOIN issues i ON i.id = q.issue_id
    WHERE coalesce(i.author_id, '') <> tm.user_id AND coalesce(p.submitter_id, '') <> tm.user_id`,
    `CREATE VIEW webhook_deliveries (id, uuid, webhook_id, event, about, payload, state, attempts, next_attempt_at, locked_until, created_at,
    tried_at, took_ms, status, response, error, redelivery_of) AS
    SELECT m.id, m.uuid, m.webhook_id, m.event, m.about, o.payload, o.state, o.attempts, o.next_at, o.lease_until, o.created_at,
    m.tried_at, m.took_ms, m.status, m.response, o.last_error, m.redelivery_of
    FROM webhook_messages m JOIN outbox o ON o.id = m.id`,
    `CREATE FUNCTION audit_log_stays() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
RAISE EXCEPTION 'the audit log is never changed';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER audit_log_stays BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION audit_log_stays()`,
    `CREATE FUNCTION counts_ci_runners_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'runners';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_ci_runners_added AFTER INSERT ON ci_runners FOR EACH ROW EXECUTE FUNCTION counts_ci_runners_added()`,
    `CREATE FUNCTION counts_ci_runners_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'runners';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_ci_runners_removed AFTER DELETE ON ci_runners FOR EACH ROW EXECUTE FUNCTION counts_ci_runners_removed()`,
    `CREATE FUNCTION counts_federation_delivery_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'PENDING' THEN 1 ELSE 0 END) WHERE name = 'pending_deliveries';
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'DELIVERED' THEN 1 ELSE 0 END) WHERE name = 'delivered_deliveries';
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'FAILED' THEN 1 ELSE 0 END) WHERE name = 'failed_deliveries';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_federation_delivery_added AFTER INSERT ON federation_delivery FOR EACH ROW EXECUTE FUNCTION counts_federation_delivery_added()`,
    `CREATE FUNCTION counts_federation_delivery_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'PENDING' THEN 1 ELSE 0 END - CASE WHEN OLD.state = 'PENDING' THEN 1 ELSE 0 END) WHERE name = 'pending_deliveries';
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'DELIVERED' THEN 1 ELSE 0 END - CASE WHEN OLD.state = 'DELIVERED' THEN 1 ELSE 0 END) WHERE name = 'delivered_deliveries';
UPDATE counts SET value = value + (CASE WHEN NEW.state = 'FAILED' THEN 1 ELSE 0 END - CASE WHEN OLD.state = 'FAILED' THEN 1 ELSE 0 END) WHERE name = 'failed_deliveries';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_federation_delivery_changed AFTER UPDATE OF state ON federation_delivery FOR EACH ROW EXECUTE FUNCTION counts_federation_delivery_changed()`,
    `CREATE FUNCTION counts_federation_delivery_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN OLD.state = 'PENDING' THEN 1 ELSE 0 END) WHERE name = 'pending_deliveries';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.state = 'DELIVERED' THEN 1 ELSE 0 END) WHERE name = 'delivered_deliveries';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.state = 'FAILED' THEN 1 ELSE 0 END) WHERE name = 'failed_deliveries';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_federation_delivery_removed AFTER DELETE ON federation_delivery FOR EACH ROW EXECUTE FUNCTION counts_federation_delivery_removed()`,
    `CREATE FUNCTION counts_mirrors_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'mirrors';
UPDATE counts SET value = value + (CASE WHEN NEW.failures > 0 THEN 1 ELSE 0 END) WHERE name = 'failing_mirrors';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_mirrors_added AFTER INSERT ON mirrors FOR EACH ROW EXECUTE FUNCTION counts_mirrors_added()`,
    `CREATE FUNCTION counts_mirrors_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'mirrors';
UPDATE counts SET value = value + (CASE WHEN NEW.failures > 0 THEN 1 ELSE 0 END - CASE WHEN OLD.failures > 0 THEN 1 ELSE 0 END) WHERE name = 'failing_mirrors';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_mirrors_changed AFTER UPDATE OF failures ON mirrors FOR EACH ROW EXECUTE FUNCTION counts_mirrors_changed()`,
    `CREATE FUNCTION counts_mirrors_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'mirrors';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.failures > 0 THEN 1 ELSE 0 END) WHERE name = 'failing_mirrors';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_mirrors_removed AFTER DELETE ON mirrors FOR EACH ROW EXECUTE FUNCTION counts_mirrors_removed()`,
    `CREATE FUNCTION counts_organisations_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'organisations';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_organisations_added AFTER INSERT ON organisations FOR EACH ROW EXECUTE FUNCTION counts_organisations_added()`,
    `CREATE FUNCTION counts_organisations_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'organisations';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_organisations_removed AFTER DELETE ON organisations FOR EACH ROW EXECUTE FUNCTION counts_organisations_removed()`,
    `CREATE FUNCTION counts_repositories_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'repositories';
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NULL THEN NEW.size_bytes ELSE 0 END) WHERE name = 'repository_bytes';
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NOT NULL THEN 1 ELSE 0 END) WHERE name = 'trashed_repositories';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_repositories_added AFTER INSERT ON repositories FOR EACH ROW EXECUTE FUNCTION counts_repositories_added()`,
    `CREATE FUNCTION counts_repositories_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE 0 END - CASE WHEN OLD.deleted_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'repositories';
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NULL THEN NEW.size_bytes ELSE 0 END - CASE WHEN OLD.deleted_at IS NULL THEN OLD.size_bytes ELSE 0 END) WHERE name = 'repository_bytes';
UPDATE counts SET value = value + (CASE WHEN NEW.deleted_at IS NOT NULL THEN 1 ELSE 0 END - CASE WHEN OLD.deleted_at IS NOT NULL THEN 1 ELSE 0 END) WHERE name = 'trashed_repositories';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_repositories_changed AFTER UPDATE OF size_bytes, deleted_at ON repositories FOR EACH ROW EXECUTE FUNCTION counts_repositories_changed()`,
    `CREATE FUNCTION counts_repositories_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN OLD.deleted_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'repositories';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.deleted_at IS NULL THEN OLD.size_bytes ELSE 0 END) WHERE name = 'repository_bytes';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.deleted_at IS NOT NULL THEN 1 ELSE 0 END) WHERE name = 'trashed_repositories';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_repositories_removed AFTER DELETE ON repositories FOR EACH ROW EXECUTE FUNCTION counts_repositories_removed()`,
    `CREATE FUNCTION counts_users_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'accounts';
UPDATE counts SET value = value + (CASE WHEN NEW.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'people';
UPDATE counts SET value = value + (CASE WHEN NEW.username IS NOT NULL AND NEW.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'profiles';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_users_added AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION counts_users_added()`,
    `CREATE FUNCTION counts_users_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (CASE WHEN 1 = 1 THEN 1 ELSE 0 END - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'accounts';
UPDATE counts SET value = value + (CASE WHEN NEW.disabled_at IS NULL THEN 1 ELSE 0 END - CASE WHEN OLD.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'people';
UPDATE counts SET value = value + (CASE WHEN NEW.username IS NOT NULL AND NEW.disabled_at IS NULL THEN 1 ELSE 0 END - CASE WHEN OLD.username IS NOT NULL AND OLD.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'profiles';
RETURN NEW;
END $body$`,
    `CREATE TRIGGER counts_users_changed AFTER UPDATE OF username, disabled_at ON users FOR EACH ROW EXECUTE FUNCTION counts_users_changed()`,
    `CREATE FUNCTION counts_users_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE counts SET value = value + (0 - CASE WHEN 1 = 1 THEN 1 ELSE 0 END) WHERE name = 'accounts';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'people';
UPDATE counts SET value = value + (0 - CASE WHEN OLD.username IS NOT NULL AND OLD.disabled_at IS NULL THEN 1 ELSE 0 END) WHERE name = 'profiles';
RETURN OLD;
END $body$`,
    `CREATE TRIGGER counts_users_removed AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION counts_users_removed()`,
    `CREATE FUNCTION fork_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE repositories SET fork_count = fork_count + CASE WHEN NEW.deleted_at IS NULL AND NEW.visibility = 'PUBLIC' THEN 1 ELSE 0 END WHERE id = NEW.forked_from_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER fork_counts_added AFTER INSERT ON repositories FOR EACH ROW EXECUTE FUNCTION fork_counts_added()`,
    `CREATE FUNCTION fork_counts_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE repositories SET fork_count = fork_count - CASE WHEN OLD.deleted_at IS NULL AND OLD.visibility = 'PUBLIC' THEN 1 ELSE 0 END WHERE id = OLD.forked_from_id;
UPDATE repositories SET fork_count = fork_count + CASE WHEN NEW.deleted_at IS NULL AND NEW.visibility = 'PUBLIC' THEN 1 ELSE 0 END WHERE id = NEW.forked_from_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER fork_counts_changed AFTER UPDATE OF forked_from_id, visibility, deleted_at ON repositories FOR EACH ROW EXECUTE FUNCTION fork_counts_changed()`,
    `CREATE FUNCTION fork_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE repositories SET fork_count = fork_count - CASE WHEN OLD.deleted_at IS NULL AND OLD.visibility = 'PUBLIC' THEN 1 ELSE 0 END WHERE id = OLD.forked_from_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER fork_counts_removed AFTER DELETE ON repositories FOR EACH ROW EXECUTE FUNCTION fork_counts_removed()`,
    `CREATE FUNCTION issue_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE issue_numbers SET open_issues = open_issues + CASE WHEN NEW.kind = 'ISSUE' AND NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, closed_issues = closed_issues + CASE WHEN NEW.kind = 'ISSUE' AND NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, open_pulls = open_pulls + CASE WHEN NEW.kind = 'PULL' AND NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, closed_pulls = closed_pulls + CASE WHEN NEW.kind = 'PULL' AND NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END WHERE repository_id = NEW.repository_id;
UPDATE milestones SET open_count = open_count + CASE WHEN NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END,
    closed_count = closed_count + CASE WHEN NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END WHERE id = NEW.milestone_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER issue_counts_added AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION issue_counts_added()`,
    `CREATE FUNCTION issue_counts_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE issue_numbers SET open_issues = open_issues - CASE WHEN OLD.kind = 'ISSUE' AND OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, closed_issues = closed_issues - CASE WHEN OLD.kind = 'ISSUE' AND OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, open_pulls = open_pulls - CASE WHEN OLD.kind = 'PULL' AND OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, closed_pulls = closed_pulls - CASE WHEN OLD.kind = 'PULL' AND OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END WHERE repository_id = OLD.repository_id;
UPDATE milestones SET open_count = open_count - CASE WHEN OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END,
    closed_count = closed_count - CASE WHEN OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END WHERE id = OLD.milestone_id;
UPDATE issue_numbers SET open_issues = open_issues + CASE WHEN NEW.kind = 'ISSUE' AND NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, closed_issues = closed_issues + CASE WHEN NEW.kind = 'ISSUE' AND NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, open_pulls = open_pulls + CASE WHEN NEW.kind = 'PULL' AND NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END, closed_pulls = closed_pulls + CASE WHEN NEW.kind = 'PULL' AND NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END WHERE repository_id = NEW.repository_id;
UPDATE milestones SET open_count = open_count + CASE WHEN NEW.state = 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END,
    closed_count = closed_count + CASE WHEN NEW.state <> 'OPEN' AND NEW.deleted_at IS NULL AND NEW.held_at IS NULL THEN 1 ELSE 0 END WHERE id = NEW.milestone_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER issue_counts_changed AFTER UPDATE OF repository_id, kind, state, milestone_id, held_at, deleted_at ON issues FOR EACH ROW EXECUTE FUNCTION issue_counts_changed()`,
    `CREATE FUNCTION issue_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE issue_numbers SET open_issues = open_issues - CASE WHEN OLD.kind = 'ISSUE' AND OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, closed_issues = closed_issues - CASE WHEN OLD.kind = 'ISSUE' AND OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, open_pulls = open_pulls - CASE WHEN OLD.kind = 'PULL' AND OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END, closed_pulls = closed_pulls - CASE WHEN OLD.kind = 'PULL' AND OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END WHERE repository_id = OLD.repository_id;
UPDATE milestones SET open_count = open_count - CASE WHEN OLD.state = 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END,
    closed_count = closed_count - CASE WHEN OLD.state <> 'OPEN' AND OLD.deleted_at IS NULL AND OLD.held_at IS NULL THEN 1 ELSE 0 END WHERE id = OLD.milestone_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER issue_counts_removed AFTER DELETE ON issues FOR EACH ROW EXECUTE FUNCTION issue_counts_removed()`,
    `CREATE FUNCTION issue_serials_given() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO issue_serials (issue_id) VALUES (NEW.id);
RETURN NEW;
END $body$`,
    `CREATE TRIGGER issue_serials_given AFTER INSERT ON issues FOR EACH ROW EXECUTE FUNCTION issue_serials_given()`,
    `CREATE FUNCTION lfs_objects_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO lfs_repositories (repository_id, objects, bytes, shared_bytes)
    VALUES (NEW.repository_id, 1, CASE WHEN NEW.shared = 0 THEN NEW.bytes ELSE 0 END,
    CASE WHEN NEW.shared = 1 THEN NEW.bytes ELSE 0 END)
    ON CONFLICT (repository_id) DO UPDATE SET objects = lfs_repositories.objects + excluded.objects,
    bytes = lfs_repositories.bytes + excluded.bytes,
    shared_bytes = lfs_repositories.shared_bytes + excluded.shared_bytes;
UPDATE counts SET value = value + 1 WHERE name = 'lfs_objects';
UPDATE counts SET value = value + NEW.bytes WHERE name = 'lfs_bytes' AND NEW.shared = 0;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER lfs_objects_added AFTER INSERT ON lfs_objects FOR EACH ROW EXECUTE FUNCTION lfs_objects_added()`,
    `CREATE FUNCTION lfs_objects_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE lfs_repositories SET objects = objects - 1,
    bytes = bytes - CASE WHEN OLD.shared = 0 THEN OLD.bytes ELSE 0 END,
    shared_bytes = shared_bytes - CASE WHEN OLD.shared = 1 THEN OLD.bytes ELSE 0 END
    WHERE repository_id = OLD.repository_id;
UPDATE counts SET value = value - 1 WHERE name = 'lfs_objects';
UPDATE counts SET value = value - OLD.bytes WHERE name = 'lfs_bytes' AND OLD.shared = 0;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER lfs_objects_removed AFTER DELETE ON lfs_objects FOR EACH ROW EXECUTE FUNCTION lfs_objects_removed()`,
    `CREATE FUNCTION notification_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO notification_counts (user_id, unread, stored) VALUES (NEW.user_id, CASE WHEN NEW.listed_at IS NOT NULL AND NEW.read_at IS NULL AND NEW.done_at IS NULL THEN 1 ELSE 0 END, 1)
    ON CONFLICT (user_id) DO UPDATE SET unread = notification_counts.unread + excluded.unread, stored = notification_counts.stored + 1;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER notification_counts_added AFTER INSERT ON notifications FOR EACH ROW EXECUTE FUNCTION notification_counts_added()`,
    `CREATE FUNCTION notification_counts_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE notification_counts SET unread = unread - CASE WHEN OLD.listed_at IS NOT NULL AND OLD.read_at IS NULL AND OLD.done_at IS NULL THEN 1 ELSE 0 END + CASE WHEN NEW.listed_at IS NOT NULL AND NEW.read_at IS NULL AND NEW.done_at IS NULL THEN 1 ELSE 0 END WHERE user_id = NEW.user_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER notification_counts_changed AFTER UPDATE OF listed_at, read_at, done_at ON notifications FOR EACH ROW EXECUTE FUNCTION notification_counts_changed()`,
    `CREATE FUNCTION notification_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE notification_counts SET unread = unread - CASE WHEN OLD.listed_at IS NOT NULL AND OLD.read_at IS NULL AND OLD.done_at IS NULL THEN 1 ELSE 0 END, stored = stored - 1 WHERE user_id = OLD.user_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER notification_counts_removed AFTER DELETE ON notifications FOR EACH ROW EXECUTE FUNCTION notification_counts_removed()`,
    `CREATE FUNCTION notifications_moved() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE notifications SET repository_id = NEW.repository_id WHERE issue_id = NEW.id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER notifications_moved AFTER UPDATE OF repository_id ON issues FOR EACH ROW EXECUTE FUNCTION notifications_moved()`,
    `CREATE FUNCTION pulls_follow_issues() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE pulls SET is_open = CASE WHEN NEW.state = 'OPEN' AND NEW.deleted_at IS NULL THEN 1 ELSE 0 END
    WHERE issue_id = NEW.id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER pulls_follow_issues AFTER UPDATE OF state, deleted_at ON issues FOR EACH ROW
WHEN (NEW.kind = 'PULL') EXECUTE FUNCTION pulls_follow_issues()`,
    `CREATE FUNCTION release_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO release_counts (repository_id, published, drafts, bytes)
    VALUES (NEW.repository_id, CASE WHEN NEW.is_draft = 1 THEN 0 ELSE 1 END, CASE WHEN NEW.is_draft = 1 THEN 1 ELSE 0 END, 0)
    ON CONFLICT (repository_id) DO UPDATE SET published = release_counts.published + excluded.published,
    drafts = release_counts.drafts + excluded.drafts;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER release_counts_added AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION release_counts_added()`,
    `CREATE FUNCTION release_counts_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE release_counts SET published = published - CASE WHEN OLD.is_draft = 1 THEN 0 ELSE 1 END + CASE WHEN NEW.is_draft = 1 THEN 0 ELSE 1 END,
    drafts = drafts - CASE WHEN OLD.is_draft = 1 THEN 1 ELSE 0 END + CASE WHEN NEW.is_draft = 1 THEN 1 ELSE 0 END
    WHERE repository_id = NEW.repository_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER release_counts_changed AFTER UPDATE OF is_draft ON releases FOR EACH ROW EXECUTE FUNCTION release_counts_changed()`,
    `CREATE FUNCTION release_counts_file_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE release_counts SET bytes = bytes + NEW.bytes WHERE repository_id = NEW.repository_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER release_counts_file_added AFTER INSERT ON release_files FOR EACH ROW EXECUTE FUNCTION release_counts_file_added()`,
    `CREATE FUNCTION release_counts_file_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE release_counts SET bytes = bytes - OLD.bytes WHERE repository_id = OLD.repository_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER release_counts_file_removed AFTER DELETE ON release_files FOR EACH ROW EXECUTE FUNCTION release_counts_file_removed()`,
    `CREATE FUNCTION release_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE release_counts SET published = published - CASE WHEN OLD.is_draft = 1 THEN 0 ELSE 1 END, drafts = drafts - CASE WHEN OLD.is_draft = 1 THEN 1 ELSE 0 END
    WHERE repository_id = OLD.repository_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER release_counts_removed AFTER DELETE ON releases FOR EACH ROW EXECUTE FUNCTION release_counts_removed()`,
    `CREATE FUNCTION removed_rounds_of_issues() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO removed_rounds (repository_id, number, oid)
    SELECT OLD.repository_id, OLD.number, r.head_oid FROM pull_rounds r WHERE r.issue_id = OLD.id
    UNION SELECT OLD.repository_id, OLD.number, r.base_oid FROM pull_rounds r WHERE r.issue_id = OLD.id
    ON CONFLICT (repository_id, number, oid) DO NOTHING;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER removed_rounds_of_issues BEFORE DELETE ON issues FOR EACH ROW
WHEN (OLD.kind = 'PULL') EXECUTE FUNCTION removed_rounds_of_issues()`,
    `CREATE FUNCTION search_entry_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM (SELECT NEW.issue_id AS issue_id, NEW.position AS position) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_entry_changed AFTER UPDATE OF body, held_at, deleted_at ON issue_entries FOR EACH ROW EXECUTE FUNCTION search_entry_changed()`,
    `CREATE FUNCTION search_entry_gone() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
DELETE FROM search_entries WHERE issue_id = OLD.issue_id AND position = OLD.position;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER search_entry_gone AFTER DELETE ON issue_entries FOR EACH ROW EXECUTE FUNCTION search_entry_gone()`,
    `CREATE FUNCTION search_entry_written() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM (SELECT NEW.issue_id AS issue_id, NEW.position AS position) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_entry_written AFTER INSERT ON issue_entries FOR EACH ROW
WHEN (NEW.body IS NOT NULL OR NEW.position = 0) EXECUTE FUNCTION search_entry_written()`,
    `CREATE FUNCTION search_handle_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE id = OLD.owner_id ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_user_id = OLD.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_org_id = OLD.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE id = NEW.owner_id ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_user_id = NEW.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_org_id = NEW.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_handle_changed AFTER UPDATE ON handles FOR EACH ROW EXECUTE FUNCTION search_handle_changed()`,
    `CREATE FUNCTION search_handle_claimed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE id = NEW.owner_id ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_user_id = NEW.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_org_id = NEW.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_handle_claimed AFTER INSERT ON handles FOR EACH ROW EXECUTE FUNCTION search_handle_claimed()`,
    `CREATE FUNCTION search_handle_freed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE id = OLD.owner_id ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_user_id = OLD.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE owner_org_id = OLD.owner_id AND deleted_at IS NULL ON CONFLICT DO NOTHING;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER search_handle_freed AFTER DELETE ON handles FOR EACH ROW EXECUTE FUNCTION search_handle_freed()`,
    `CREATE FUNCTION search_issue_moved() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM issue_entries WHERE issue_id = NEW.id ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_issue_moved AFTER UPDATE OF repository_id ON issues FOR EACH ROW EXECUTE FUNCTION search_issue_moved()`,
    `CREATE FUNCTION search_issue_titled() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM (SELECT NEW.id AS issue_id, 0 AS position) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_issue_titled AFTER UPDATE OF title ON issues FOR EACH ROW EXECUTE FUNCTION search_issue_titled()`,
    `CREATE FUNCTION search_person_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM (SELECT NEW.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_person_changed AFTER UPDATE OF username, display_name ON users FOR EACH ROW EXECUTE FUNCTION search_person_changed()`,
    `CREATE FUNCTION search_person_gone() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM (SELECT OLD.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER search_person_gone AFTER DELETE ON users FOR EACH ROW EXECUTE FUNCTION search_person_gone()`,
    `CREATE FUNCTION search_person_made() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'person', id FROM (SELECT NEW.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_person_made AFTER INSERT ON users FOR EACH ROW EXECUTE FUNCTION search_person_made()`,
    `CREATE FUNCTION search_repository_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM (SELECT NEW.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_repository_changed AFTER UPDATE OF name, description, visibility, owner_user_id, owner_org_id, created_at, deleted_at ON repositories FOR EACH ROW EXECUTE FUNCTION search_repository_changed()`,
    `CREATE FUNCTION search_repository_gone() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM (SELECT OLD.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER search_repository_gone AFTER DELETE ON repositories FOR EACH ROW EXECUTE FUNCTION search_repository_gone()`,
    `CREATE FUNCTION search_repository_made() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM (SELECT NEW.id AS id) AS one ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_repository_made AFTER INSERT ON repositories FOR EACH ROW EXECUTE FUNCTION search_repository_made()`,
    `CREATE FUNCTION search_review_comment_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', r.issue_id || ' ' || r.position FROM reviews r
    WHERE r.id = NEW.review_id AND r.position IS NOT NULL ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_review_comment_changed AFTER UPDATE OF body, deleted_at ON review_comments FOR EACH ROW EXECUTE FUNCTION search_review_comment_changed()`,
    `CREATE FUNCTION search_review_comment_written() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO search_changes (kind, id) SELECT 'entry', r.issue_id || ' ' || r.position FROM reviews r
    WHERE r.id = NEW.review_id AND r.position IS NOT NULL ON CONFLICT DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER search_review_comment_written AFTER INSERT ON review_comments FOR EACH ROW EXECUTE FUNCTION search_review_comment_written()`,
    `CREATE FUNCTION star_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO star_counts (repository_id, stars) VALUES (NEW.repository_id, 1)
    ON CONFLICT (repository_id) DO UPDATE SET stars = star_counts.stars + excluded.stars;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER star_counts_added AFTER INSERT ON stars FOR EACH ROW EXECUTE FUNCTION star_counts_added()`,
    `CREATE FUNCTION star_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE star_counts SET stars = stars - 1 WHERE repository_id = OLD.repository_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER star_counts_removed AFTER DELETE ON stars FOR EACH ROW EXECUTE FUNCTION star_counts_removed()`,
    `CREATE FUNCTION team_serials_given() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO team_serials (team_id) VALUES (NEW.id);
RETURN NEW;
END $body$`,
    `CREATE TRIGGER team_serials_given AFTER INSERT ON teams FOR EACH ROW EXECUTE FUNCTION team_serials_given()`,
    `CREATE FUNCTION watch_counts_added() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO watch_counts (repository_id, watching) VALUES (NEW.repository_id, CASE WHEN NEW.level = 'everything' THEN 1 ELSE 0 END)
    ON CONFLICT (repository_id) DO UPDATE SET watching = watch_counts.watching + excluded.watching;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER watch_counts_added AFTER INSERT ON watches FOR EACH ROW EXECUTE FUNCTION watch_counts_added()`,
    `CREATE FUNCTION watch_counts_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE watch_counts SET watching = watching - CASE WHEN OLD.level = 'everything' THEN 1 ELSE 0 END + CASE WHEN NEW.level = 'everything' THEN 1 ELSE 0 END WHERE repository_id = NEW.repository_id;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER watch_counts_changed AFTER UPDATE OF level ON watches FOR EACH ROW EXECUTE FUNCTION watch_counts_changed()`,
    `CREATE FUNCTION watch_counts_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
UPDATE watch_counts SET watching = watching - CASE WHEN OLD.level = 'everything' THEN 1 ELSE 0 END WHERE repository_id = OLD.repository_id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER watch_counts_removed AFTER DELETE ON watches FOR EACH ROW EXECUTE FUNCTION watch_counts_removed()`,
    `CREATE FUNCTION watches_of_new_owner() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO watches (user_id, repository_id, level, created_at)
    SELECT NEW.owner_user_id, NEW.id, 'everything', NEW.created_at WHERE NEW.owner_user_id IS NOT NULL
    ON CONFLICT (user_id, repository_id) DO NOTHING;
INSERT INTO watches (user_id, repository_id, level, created_at)
    SELECT m.user_id, NEW.id, 'everything', NEW.created_at FROM organisation_members m
    WHERE m.organisation_id = NEW.owner_org_id AND m.role = 'OWNER'
    ON CONFLICT (user_id, repository_id) DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER watches_of_new_owner AFTER UPDATE OF owner_user_id, owner_org_id ON repositories FOR EACH ROW EXECUTE FUNCTION watches_of_new_owner()`,
    `CREATE FUNCTION watches_of_owner() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
INSERT INTO watches (user_id, repository_id, level, created_at)
    SELECT NEW.owner_user_id, NEW.id, 'everything', NEW.created_at WHERE NEW.owner_user_id IS NOT NULL
    ON CONFLICT (user_id, repository_id) DO NOTHING;
INSERT INTO watches (user_id, repository_id, level, created_at)
    SELECT m.user_id, NEW.id, 'everything', NEW.created_at FROM organisation_members m
    WHERE m.organisation_id = NEW.owner_org_id AND m.role = 'OWNER'
    ON CONFLICT (user_id, repository_id) DO NOTHING;
RETURN NEW;
END $body$`,
    `CREATE TRIGGER watches_of_owner AFTER INSERT ON repositories FOR EACH ROW EXECUTE FUNCTION watches_of_owner()`,
    `CREATE FUNCTION webhook_messages_removed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
DELETE FROM outbox WHERE id = OLD.id;
RETURN OLD;
END $body$`,
    `CREATE TRIGGER webhook_messages_removed AFTER DELETE ON webhook_messages FOR EACH ROW EXECUTE FUNCTION webhook_messages_removed()`,
    `INSERT INTO counts (name, value) VALUES ('accounts', 0)`,
    `INSERT INTO counts (name, value) VALUES ('people', 0)`,
    `INSERT INTO counts (name, value) VALUES ('profiles', 0)`,
    `INSERT INTO counts (name, value) VALUES ('organisations', 0)`,
    `INSERT INTO counts (name, value) VALUES ('repositories', 0)`,
    `INSERT INTO counts (name, value) VALUES ('repository_bytes', 0)`,
    `INSERT INTO counts (name, value) VALUES ('trashed_repositories', 0)`,
    `INSERT INTO counts (name, value) VALUES ('pending_deliveries', 0)`,
    `INSERT INTO counts (name, value) VALUES ('delivered_deliveries', 0)`,
    `INSERT INTO counts (name, value) VALUES ('failed_deliveries', 0)`,
    `INSERT INTO counts (name, value) VALUES ('mirrors', 0)`,
    `INSERT INTO counts (name, value) VALUES ('failing_mirrors', 0)`,
    `INSERT INTO counts (name, value) VALUES ('runners', 0)`,
    `INSERT INTO counts (name, value) VALUES ('lfs_objects', 0)`,
    `INSERT INTO counts (name, value) VALUES ('lfs_bytes', 0)`,
    `INSERT INTO leases (name, node, epoch, until) VALUES ('jobs', 'local', 1, NULL)`,
    `INSERT INTO storages (id, kind, node, epoch, until) VALUES ('local', 'local', 'local', 1, NULL)`,
  ],
};
