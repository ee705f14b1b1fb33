import type { Migration } from '../src/db/index.ts';

const author = `author_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      remote_author_id TEXT REFERENCES remote_actors (id) ON DELETE SET NULL,
      author_name TEXT`;
const repository = 'repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE';
const issue = 'issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE';
const person = 'user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE';

/** Whether a row of `issues` stands in lists: neither in the trash nor waiting for a member. */
const isListed = (row: string): string => `${row}.deleted_at IS NULL AND ${row}.held_at IS NULL`;
const one = (condition: string): string => `CASE WHEN ${condition} THEN 1 ELSE 0 END`;

/** How a row of `issues` adds to the counts of its repository, and of its milestone. */
const repositoryCounts = (row: string, sign: '+' | '-'): string =>
  `UPDATE issue_numbers SET ${[
    ['open_issues', `${row}.kind = 'ISSUE' AND ${row}.state = 'OPEN'`],
    ['closed_issues', `${row}.kind = 'ISSUE' AND ${row}.state <> 'OPEN'`],
    ['open_pulls', `${row}.kind = 'PULL' AND ${row}.state = 'OPEN'`],
    ['closed_pulls', `${row}.kind = 'PULL' AND ${row}.state <> 'OPEN'`],
  ]
    .map(([name, condition]) => `${name} = ${name} ${sign} ${one(`${condition} AND ${isListed(row)}`)}`)
    .join(', ')} WHERE repository_id = ${row}.repository_id;`;
const milestoneCounts = (row: string, sign: '+' | '-'): string =>
  `UPDATE milestones SET open_count = open_count ${sign} ${one(`${row}.state = 'OPEN' AND ${isListed(row)}`)},
     closed_count = closed_count ${sign} ${one(`${row}.state <> 'OPEN' AND ${isListed(row)}`)} WHERE id = ${row}.milestone_id;`;
const add = `${repositoryCounts('NEW', '+')} ${milestoneCounts('NEW', '+')}`;
const remove = `${repositoryCounts('OLD', '-')} ${milestoneCounts('OLD', '-')}`;

/**
 * Issues: a row and a log of numbered entries, only ever appended. Entry 0 has the issue's own text, so that texts
 * are edited, hidden, quoted and reacted to in one way. Numbers are shared with pull requests.
 */
export const issues: Migration = {
  version: 76,
  name: 'Issues',
  statements: [
    `CREATE TABLE issue_numbers (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      last BIGINT NOT NULL,
      open_issues BIGINT NOT NULL DEFAULT 0,
      closed_issues BIGINT NOT NULL DEFAULT 0,
      open_pulls BIGINT NOT NULL DEFAULT 0,
      closed_pulls BIGINT NOT NULL DEFAULT 0
    )`,
    // A repository without a row has the defaults.
    `CREATE TABLE issue_settings (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      issues_from TEXT NOT NULL DEFAULT 'anyone' CONSTRAINT issue_settings_from CHECK (issues_from IN ('nobody', 'members', 'anyone')),
      holds_newcomers INTEGER NOT NULL DEFAULT 0
    )`,
    `CREATE TABLE milestones (
      id TEXT PRIMARY KEY NOT NULL,
      ${repository},
      title TEXT NOT NULL,
      title_folded TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      due_on TEXT,
      closed_at BIGINT,
      open_count BIGINT NOT NULL DEFAULT 0,
      closed_count BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL
    )`,
    `CREATE UNIQUE INDEX milestones_title ON milestones (repository_id, title_folded)`,
    `CREATE TABLE labels (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      colour TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      is_exclusive INTEGER NOT NULL DEFAULT 0,
      CONSTRAINT labels_one_scope CHECK ((repository_id IS NULL) <> (organisation_id IS NULL))
    )`,
    `CREATE UNIQUE INDEX labels_repository_name ON labels (repository_id, name_folded) WHERE repository_id IS NOT NULL`,
    `CREATE UNIQUE INDEX labels_organisation_name ON labels (organisation_id, name_folded) WHERE organisation_id IS NOT NULL`,
    `CREATE TABLE issues (
      id TEXT PRIMARY KEY NOT NULL,
      ${repository},
      number BIGINT NOT NULL,
      kind TEXT NOT NULL CONSTRAINT issues_kind CHECK (kind IN ('ISSUE', 'PULL')),
      title TEXT NOT NULL,
      ${author},
      state TEXT NOT NULL CONSTRAINT issues_state CHECK (state IN ('OPEN', 'CLOSED', 'MERGED')),
      close_reason TEXT CONSTRAINT issues_close_reason CHECK (close_reason IN ('completed', 'not_planned', 'duplicate')),
      milestone_id TEXT REFERENCES milestones (id) ON DELETE SET NULL,
      locked_at BIGINT,
      pinned_at BIGINT,
      held_at BIGINT,
      last_position BIGINT NOT NULL DEFAULT 0,
      comment_count BIGINT NOT NULL DEFAULT 0,
      origin TEXT,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      closed_at BIGINT,
      deleted_at BIGINT,
      deleted_by TEXT,
      CONSTRAINT issues_number UNIQUE (repository_id, number),
      CONSTRAINT issues_only_pulls_merge CHECK (state <> 'MERGED' OR kind = 'PULL')
    )`,
    ...[
      ['updated', 'updated_at, number'],
      ['newest', 'number'],
      ['discussed', 'comment_count, number'],
    ].map(
      ([name, columns]) =>
        `CREATE INDEX issues_${name} ON issues (repository_id, kind, state, ${columns}) WHERE deleted_at IS NULL AND held_at IS NULL`,
    ),
    `CREATE INDEX issues_author ON issues (author_id, state, updated_at, id) WHERE author_id IS NOT NULL AND deleted_at IS NULL`,
    `CREATE INDEX issues_person ON issues (author_id) WHERE author_id IS NOT NULL`,
    `CREATE INDEX issues_remote_author ON issues (remote_author_id) WHERE remote_author_id IS NOT NULL`,
    `CREATE INDEX issues_milestone ON issues (milestone_id, state, number) WHERE milestone_id IS NOT NULL`,
    `CREATE INDEX issues_pinned ON issues (repository_id, pinned_at) WHERE pinned_at IS NOT NULL AND deleted_at IS NULL`,
    `CREATE INDEX issues_trash ON issues (repository_id, deleted_at, id) WHERE deleted_at IS NOT NULL`,
    `CREATE INDEX issues_trash_due ON issues (deleted_at) WHERE deleted_at IS NOT NULL`,
    `CREATE UNIQUE INDEX issues_origin ON issues (repository_id, origin) WHERE origin IS NOT NULL`,
    `CREATE TABLE issue_entries (
      ${issue},
      position BIGINT NOT NULL,
      kind TEXT NOT NULL,
      ${author},
      body TEXT,
      details TEXT NOT NULL DEFAULT '{}',
      via TEXT NOT NULL DEFAULT 'web' CONSTRAINT issue_entries_via
        CHECK (via IN ('web', 'api', 'git', 'mail', 'cli', 'federation', 'import', 'server')),
      origin TEXT,
      revision BIGINT NOT NULL DEFAULT 1,
      created_at BIGINT NOT NULL,
      edited_at BIGINT,
      deleted_at BIGINT,
      held_at BIGINT,
      announced_at BIGINT,
      attempts BIGINT NOT NULL DEFAULT 0,
      tried_at BIGINT,
      last_error TEXT,
      parked_at BIGINT,
      PRIMARY KEY (issue_id, position)
    )`,
    `CREATE INDEX issue_entries_unannounced ON issue_entries (created_at, issue_id, position) WHERE announced_at IS NULL AND parked_at IS NULL AND held_at IS NULL`,
    `CREATE INDEX issue_entries_parked ON issue_entries (parked_at) WHERE parked_at IS NOT NULL`,
    `CREATE UNIQUE INDEX issue_entries_origin ON issue_entries (issue_id, origin) WHERE origin IS NOT NULL`,
    `CREATE INDEX issue_entries_author ON issue_entries (author_id, created_at) WHERE author_id IS NOT NULL`,
    `CREATE INDEX issue_entries_remote_author ON issue_entries (remote_author_id) WHERE remote_author_id IS NOT NULL`,
    `CREATE TABLE entry_announcements (
      issue_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      listener TEXT NOT NULL,
      PRIMARY KEY (issue_id, position, listener),
      FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE TABLE entry_listener_attempts (
      issue_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      listener TEXT NOT NULL,
      attempts BIGINT NOT NULL,
      last_error TEXT,
      PRIMARY KEY (issue_id, position, listener),
      FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    // What a text was before an edit.
    `CREATE TABLE entry_revisions (
      issue_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      revision BIGINT NOT NULL,
      body TEXT NOT NULL,
      editor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      edited_at BIGINT NOT NULL,
      PRIMARY KEY (issue_id, position, revision),
      FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE INDEX entry_revisions_editor ON entry_revisions (editor_id) WHERE editor_id IS NOT NULL`,
    `CREATE TABLE hidden_entries (
      issue_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      reason TEXT NOT NULL CONSTRAINT hidden_entries_reason
        CHECK (reason IN ('spam', 'abuse', 'off_topic', 'outdated', 'duplicate', 'resolved')),
      hidden_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      hidden_at BIGINT NOT NULL,
      PRIMARY KEY (issue_id, position),
      FOREIGN KEY (issue_id) REFERENCES issues (id) ON DELETE CASCADE
    )`,
    `CREATE INDEX hidden_entries_person ON hidden_entries (hidden_by) WHERE hidden_by IS NOT NULL`,
    `CREATE TABLE issue_labels (
      ${issue},
      label_id TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
      PRIMARY KEY (issue_id, label_id)
    )`,
    `CREATE INDEX issue_labels_label ON issue_labels (label_id, issue_id)`,
    `CREATE TABLE issue_assignees (
      ${issue},
      ${person},
      PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE INDEX issue_assignees_user ON issue_assignees (user_id, issue_id)`,
    `CREATE TABLE issue_mentions (
      ${issue},
      ${person},
      PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE INDEX issue_mentions_user ON issue_mentions (user_id, issue_id)`,
    `CREATE TABLE issue_links (
      from_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      to_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CONSTRAINT issue_links_kind CHECK (kind IN ('mentions', 'closes', 'needs', 'duplicates')),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (from_id, to_id, kind)
    )`,
    `CREATE INDEX issue_links_to ON issue_links (to_id, kind)`,
    `CREATE TABLE reactions (
      ${issue},
      position BIGINT NOT NULL,
      ${person},
      kind TEXT NOT NULL CONSTRAINT reactions_kind
        CHECK (kind IN ('+1', '-1', 'laugh', 'heart', 'hooray', 'confused', 'rocket', 'eyes')),
      PRIMARY KEY (issue_id, position, kind, user_id)
    )`,
    `CREATE INDEX reactions_user ON reactions (user_id)`,
    `CREATE TABLE attachments (
      id TEXT PRIMARY KEY NOT NULL,
      ${repository},
      issue_id TEXT REFERENCES issues (id) ON DELETE CASCADE,
      uploader_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      name TEXT NOT NULL,
      content_type TEXT NOT NULL,
      bytes BIGINT NOT NULL,
      sha256 TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    `CREATE INDEX attachments_unused ON attachments (created_at) WHERE issue_id IS NULL`,
    `CREATE INDEX attachments_repository ON attachments (repository_id)`,
    `CREATE INDEX attachments_issue ON attachments (issue_id) WHERE issue_id IS NOT NULL`,
    `CREATE INDEX attachments_uploader ON attachments (uploader_id) WHERE uploader_id IS NOT NULL`,
    `CREATE TABLE drafts (
      ${person},
      context TEXT NOT NULL,
      body TEXT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, context)
    )`,
    `CREATE INDEX drafts_age ON drafts (user_id, updated_at)`,
    `CREATE TABLE subscriptions (
      ${issue},
      ${person},
      is_on INTEGER NOT NULL,
      reason TEXT NOT NULL CONSTRAINT subscriptions_reason
        CHECK (reason IN ('author', 'comment', 'mention', 'assigned', 'manual')),
      PRIMARY KEY (issue_id, user_id)
    )`,
    `CREATE INDEX subscriptions_user ON subscriptions (user_id, issue_id)`,
    // The owner is a person or an organisation, as in \`handles\`.
    `CREATE TABLE owner_blocks (
      owner_id TEXT NOT NULL,
      ${person},
      reason TEXT NOT NULL DEFAULT '',
      blocked_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (owner_id, user_id)
    )`,
    `CREATE INDEX owner_blocks_user ON owner_blocks (user_id)`,
    `CREATE INDEX owner_blocks_person ON owner_blocks (blocked_by) WHERE blocked_by IS NOT NULL`,
    // Who has written something here; \`admitted_at\` is null while the first of it waits for a member.
    `CREATE TABLE contributors (
      ${repository},
      ${person},
      first_at BIGINT NOT NULL,
      admitted_at BIGINT,
      PRIMARY KEY (repository_id, user_id)
    )`,
    `CREATE INDEX contributors_user ON contributors (user_id)`,
    `CREATE TABLE held_contributions (
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      position BIGINT NOT NULL,
      ${repository},
      ${person},
      held_at BIGINT NOT NULL,
      PRIMARY KEY (issue_id, position)
    )`,
    `CREATE INDEX held_contributions_repository ON held_contributions (repository_id, held_at, issue_id, position)`,
    `CREATE INDEX held_contributions_person ON held_contributions (user_id, repository_id, issue_id, position)`,
    // Where a number leads whose issue is in another repository now.
    `CREATE TABLE moved_issues (
      ${repository},
      number BIGINT NOT NULL,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      moved_at BIGINT NOT NULL,
      PRIMARY KEY (repository_id, number)
    )`,
    `CREATE INDEX moved_issues_issue ON moved_issues (issue_id)`,

    // Counts change in the same transaction as the rows, the user who changes them. The bodies are plain SQL that
    // PostgreSQL's trigger functions can have as they are.
    `CREATE TRIGGER issue_counts_added AFTER INSERT ON issues BEGIN ${add} END`,
    `CREATE TRIGGER issue_counts_removed AFTER DELETE ON issues BEGIN ${remove} END`,
    `CREATE TRIGGER issue_counts_changed AFTER UPDATE OF repository_id, kind, state, milestone_id, held_at, deleted_at ON issues
      BEGIN ${remove} ${add} END`,
  ],
};
