import type { Migration } from '../src/db/index.ts';

const repository = 'repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE';
const pull = 'issue_id TEXT NOT NULL REFERENCES pulls (issue_id) ON DELETE CASCADE';
const person = 'user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE';
const maybePerson = (column: string): string => `${column} TEXT REFERENCES users (id) ON DELETE SET NULL`;
const oneOf = (column: string, name: string, values: readonly string[]): string =>
  `CONSTRAINT ${name} CHECK (${column} IN (${values.map((value) => `'${value}'`).join(', ')}))`;

/**
 * Pull requests. The talk of one is an issue of kind PULL; `pulls` adds the code. Each push to it is a round, which is
 * never changed afterwards; reviews and threads hang on rounds.
 */
export const pullRequests: Migration = {
  version: 106,
  name: 'Pull requests',
  statements: [
    `CREATE TABLE pulls (
      issue_id TEXT PRIMARY KEY NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      ${repository},
      is_open INTEGER NOT NULL DEFAULT 1,
      is_draft INTEGER NOT NULL DEFAULT 0,
      base_branch TEXT NOT NULL,
      source TEXT NOT NULL ${oneOf('source', 'pulls_source', ['BRANCH', 'FORK', 'PUSH', 'PATCH', 'REMOTE'])},
      head_repository_id TEXT REFERENCES repositories (id) ON DELETE SET NULL,
      head_branch TEXT,
      topic TEXT,
      ${maybePerson('submitter_id')},
      last_round BIGINT NOT NULL DEFAULT 0,
      head_oid TEXT NOT NULL,
      base_oid TEXT NOT NULL,
      maintainers_may_push INTEGER NOT NULL DEFAULT 0,
      merge_state TEXT NOT NULL DEFAULT 'UNKNOWN'
        ${oneOf('merge_state', 'pulls_merge_state', ['UNKNOWN', 'CLEAN', 'CONFLICT', 'EMPTY', 'UNRELATED'])},
      merge_state_onto TEXT,
      merge_state_reason TEXT,
      conflicts TEXT NOT NULL DEFAULT '[]',
      merge_style TEXT ${oneOf('merge_style', 'pulls_merge_style', ['MERGE', 'SQUASH', 'REBASE', 'FORWARD'])},
      ${maybePerson('merge_when_ready_by')},
      merge_when_ready_round BIGINT,
      merge_when_ready TEXT,
      ${maybePerson('merged_by')},
      merged_oid TEXT,
      merged_onto_oid TEXT,
      merge_push_id TEXT REFERENCES pushes (id) ON DELETE SET NULL,
      merged_at BIGINT
    )`,
    `CREATE INDEX pulls_base ON pulls (repository_id, base_branch, is_open)`,
    `CREATE UNIQUE INDEX pulls_one_per_branch ON pulls (repository_id, base_branch, head_repository_id, head_branch)
      WHERE is_open = 1 AND head_branch IS NOT NULL`,
    `CREATE UNIQUE INDEX pulls_one_per_topic ON pulls (repository_id, base_branch, submitter_id, topic)
      WHERE is_open = 1 AND topic IS NOT NULL`,
    `CREATE INDEX pulls_head ON pulls (head_repository_id, head_branch, is_open)`,
    `CREATE INDEX pulls_submitter ON pulls (submitter_id, repository_id, is_open)`,
    `CREATE INDEX pulls_when_ready ON pulls (merge_when_ready_by) WHERE merge_when_ready_by IS NOT NULL`,
    `CREATE INDEX pulls_merge_push ON pulls (merge_push_id) WHERE merge_push_id IS NOT NULL`,
    // A pull in the trash is not open either, so that its branch may have another one.
    `CREATE TRIGGER pulls_follow_issues AFTER UPDATE OF state, deleted_at ON issues WHEN NEW.kind = 'PULL' BEGIN
      UPDATE pulls SET is_open = CASE WHEN NEW.state = 'OPEN' AND NEW.deleted_at IS NULL THEN 1 ELSE 0 END
        WHERE issue_id = NEW.id; END`,
    `CREATE TABLE pull_rounds (
      ${pull},
      round BIGINT NOT NULL,
      head_oid TEXT NOT NULL,
      base_oid TEXT NOT NULL,
      commit_count BIGINT NOT NULL,
      change TEXT NOT NULL ${oneOf('change', 'pull_rounds_change', ['first', 'added', 'rebased', 'edited', 'unknown'])},
      note TEXT NOT NULL DEFAULT '',
      push_id TEXT REFERENCES pushes (id) ON DELETE SET NULL,
      ${maybePerson('submitter_id')},
      created_at BIGINT NOT NULL,
      PRIMARY KEY (issue_id, round)
    )`,
    `CREATE INDEX pull_rounds_head ON pull_rounds (head_oid)`,
    `CREATE INDEX pull_rounds_base ON pull_rounds (base_oid)`,
    `CREATE TABLE pull_commits (
      issue_id TEXT NOT NULL,
      round BIGINT NOT NULL,
      position BIGINT NOT NULL,
      oid TEXT NOT NULL,
      change_id TEXT,
      subject TEXT NOT NULL,
      PRIMARY KEY (issue_id, round, position),
      FOREIGN KEY (issue_id, round) REFERENCES pull_rounds (issue_id, round) ON DELETE CASCADE
    )`,
    `CREATE INDEX pull_commits_oid ON pull_commits (oid)`,
    `CREATE INDEX pull_commits_change ON pull_commits (change_id) WHERE change_id IS NOT NULL`,
    // Refs of pull requests that were deleted for good, until a scheduled task has removed them. Without a foreign key:
    // the repository may be deleted by the same statement.
    `CREATE TABLE removed_rounds (
      repository_id TEXT NOT NULL,
      number BIGINT NOT NULL,
      oid TEXT NOT NULL,
      PRIMARY KEY (repository_id, number, oid)
    )`,
    `CREATE TRIGGER removed_rounds_of_issues BEFORE DELETE ON issues WHEN OLD.kind = 'PULL' BEGIN
      INSERT INTO removed_rounds (repository_id, number, oid)
        SELECT OLD.repository_id, OLD.number, r.head_oid FROM pull_rounds r WHERE r.issue_id = OLD.id
        UNION SELECT OLD.repository_id, OLD.number, r.base_oid FROM pull_rounds r WHERE r.issue_id = OLD.id
        ON CONFLICT (repository_id, number, oid) DO NOTHING; END`,
    // A push to refs/for/<branch>, by the pull that it adds to: written with the journal entry, read by the listener.
    `CREATE TABLE pull_pushes (
      push_id TEXT PRIMARY KEY NOT NULL REFERENCES pushes (id) ON DELETE CASCADE,
      ${repository},
      number BIGINT NOT NULL,
      base_branch TEXT NOT NULL,
      topic TEXT,
      ${person},
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX pull_pushes_number ON pull_pushes (repository_id, number)`,
    `CREATE INDEX pull_pushes_person ON pull_pushes (user_id, repository_id, created_at)`,
    `CREATE TABLE reviews (
      id TEXT PRIMARY KEY NOT NULL,
      ${pull},
      round BIGINT NOT NULL,
      ${maybePerson('author_id')},
      verdict TEXT ${oneOf('verdict', 'reviews_verdict', ['COMMENT', 'APPROVE', 'REQUEST_CHANGES'])},
      body TEXT NOT NULL DEFAULT '',
      position BIGINT,
      created_at BIGINT NOT NULL,
      submitted_at BIGINT,
      dismissed_at BIGINT,
      ${maybePerson('dismissed_by')},
      dismissal_reason TEXT,
      CONSTRAINT reviews_submitted CHECK ((submitted_at IS NULL) = (verdict IS NULL))
    )`,
    `CREATE UNIQUE INDEX reviews_one_draft ON reviews (issue_id, author_id) WHERE submitted_at IS NULL`,
    `CREATE INDEX reviews_issue ON reviews (issue_id, submitted_at)`,
    `CREATE TABLE review_threads (
      id TEXT PRIMARY KEY NOT NULL,
      ${pull},
      round BIGINT NOT NULL,
      commit_oid TEXT NOT NULL,
      path TEXT,
      side TEXT ${oneOf('side', 'review_threads_side', ['OLD', 'NEW'])},
      first_line BIGINT,
      last_line BIGINT,
      quoted TEXT NOT NULL DEFAULT '',
      created_at BIGINT NOT NULL,
      resolved_at BIGINT,
      ${maybePerson('resolved_by')},
      CONSTRAINT review_threads_lines CHECK ((first_line IS NULL) = (last_line IS NULL) AND (first_line IS NULL
        OR (path IS NOT NULL AND side IS NOT NULL AND first_line >= 1 AND first_line <= last_line)))
    )`,
    `CREATE INDEX review_threads_issue ON review_threads (issue_id, round)`,
    `CREATE TABLE review_comments (
      thread_id TEXT NOT NULL REFERENCES review_threads (id) ON DELETE CASCADE,
      position BIGINT NOT NULL,
      review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
      ${maybePerson('author_id')},
      author_name TEXT,
      body TEXT NOT NULL,
      applied_oid TEXT,
      created_at BIGINT NOT NULL,
      edited_at BIGINT,
      deleted_at BIGINT,
      PRIMARY KEY (thread_id, position)
    )`,
    `CREATE INDEX review_comments_review ON review_comments (review_id)`,
    `CREATE TABLE thread_positions (
      thread_id TEXT NOT NULL REFERENCES review_threads (id) ON DELETE CASCADE,
      round BIGINT NOT NULL,
      state TEXT NOT NULL ${oneOf('state', 'thread_positions_state', ['same', 'moved', 'changed', 'gone'])},
      path TEXT,
      first_line BIGINT,
      last_line BIGINT,
      PRIMARY KEY (thread_id, round)
    )`,
    `CREATE TABLE review_requests (
      ${pull},
      ${person},
      reason TEXT NOT NULL ${oneOf('reason', 'review_requests_reason', ['asked', 'owner'])},
      ${maybePerson('asked_by')},
      asked_at BIGINT NOT NULL,
      answered_at BIGINT,
      PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE INDEX review_requests_open ON review_requests (user_id, asked_at) WHERE answered_at IS NULL`,
    `CREATE TABLE attention (
      ${pull},
      ${person},
      reason TEXT NOT NULL,
      since BIGINT NOT NULL,
      PRIMARY KEY (user_id, issue_id)
    )`,
    `CREATE INDEX attention_issue ON attention (issue_id)`,
    `CREATE INDEX attention_oldest ON attention (user_id, since, issue_id)`,
    `CREATE TABLE viewed_files (
      ${person},
      ${pull},
      path TEXT NOT NULL,
      old_blob TEXT NOT NULL,
      new_blob TEXT NOT NULL,
      round BIGINT NOT NULL,
      PRIMARY KEY (user_id, issue_id, path)
    )`,
    `ALTER TABLE issue_settings ADD COLUMN pulls_from TEXT NOT NULL DEFAULT 'anyone'
      ${oneOf('pulls_from', 'issue_settings_pulls_from', ['nobody', 'members', 'anyone'])}`,
    `ALTER TABLE issue_settings ADD COLUMN deletes_merged_branches INTEGER NOT NULL DEFAULT 0`,
    // What a rule asks of a merge. Without a rule, people who may write may merge.
    `ALTER TABLE branch_rules ADD COLUMN merge_level TEXT NOT NULL DEFAULT 'write'
      ${oneOf('merge_level', 'branch_rules_merge', ['nobody', 'owner', 'admin', 'write'])}`,
    `ALTER TABLE branch_rules ADD COLUMN merge_tasks INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE branch_rules ADD COLUMN approvals BIGINT NOT NULL DEFAULT 0`,
    `ALTER TABLE branch_rules ADD COLUMN owners_approve INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE branch_rules ADD COLUMN approvals_survive TEXT NOT NULL DEFAULT 'rebase'
      ${oneOf('approvals_survive', 'branch_rules_survive', ['nothing', 'rebase', 'anything'])}`,
    `ALTER TABLE branch_rules ADD COLUMN threads_resolved INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE branch_rules ADD COLUMN checks TEXT NOT NULL DEFAULT '[]'`,
    `ALTER TABLE branch_rules ADD COLUMN up_to_date TEXT NOT NULL DEFAULT 'no'
      ${oneOf('up_to_date', 'branch_rules_up_to_date', ['no', 'yes', 'queue'])}`,
    `ALTER TABLE branch_rules ADD COLUMN styles TEXT NOT NULL DEFAULT '["MERGE","SQUASH","REBASE","FORWARD"]'`,
    `ALTER TABLE branch_rules ADD COLUMN admins_too INTEGER NOT NULL DEFAULT 1`,
    `ALTER TABLE branch_rule_people RENAME TO branch_rule_people_before`,
    `CREATE TABLE branch_rule_people (
      rule_id TEXT NOT NULL REFERENCES branch_rules (id) ON DELETE CASCADE,
      act TEXT NOT NULL ${oneOf('act', 'branch_rule_people_act', ['push', 'force', 'create', 'delete', 'merge'])},
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      PRIMARY KEY (rule_id, act, user_id)
    )`,
    `INSERT INTO branch_rule_people (rule_id, act, user_id) SELECT rule_id, act, user_id FROM branch_rule_people_before`,
    `DROP TABLE branch_rule_people_before`,
    `CREATE INDEX branch_rule_people_person ON branch_rule_people (user_id)`,
  ],
};
