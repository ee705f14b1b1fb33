// Archives for tests: tars by hand, also such as no program writes, and what forges put into theirs.
import { gzipSync } from 'node:zlib';

export interface Member {
  name: string;
  content?: string;
  type?: string;
  linkTarget?: string;
  /** What the header says instead of the length. */
  bytes?: number;
}

function header({ name, content = '', type = '0', linkTarget = '', bytes }: Member): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0, 100);
  block.write('0000644\0', 100);
  block.write(`${(bytes ?? Buffer.byteLength(content)).toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write(type, 156);
  block.write(linkTarget, 157, 100);
  block.write('ustar\x0000', 257, 'latin1');
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A `.tar.gz` of these members, in their order. */
export function packMembers(members: readonly Member[]): Buffer {
  const parts = members.flatMap((member) => {
    const content = Buffer.from(member.content ?? '');
    return [header(member), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

const site = 'https://github.com';
const home = `${site}/bob/tool`;
const at = (day: number): string => `2024-01-${String(day).padStart(2, '0')}T00:00:00Z`;

/** Files of GitHub's migration archive of two repositories, by their shapes; `tip` is a commit of the code. */
export function githubFiles(tip: string): Record<string, string> {
  const other = `${site}/bob/secret`;
  const rows: Record<string, object[]> = {
    repositories: [
      {
        ...{ type: 'repository', url: home, owner: `${site}/bob`, name: 'tool', description: 'A tool', private: true },
        ...{ default_branch: 'main', git_url: 'tarball://root/repositories/bob/tool.git', website: '' },
        labels: [{ url: `${home}/labels/good%20one`, name: 'good one', color: 'ee0701', description: 'Good' }],
        collaborators: [{ user: `${site}/carol`, permission: 'write' }],
        webhooks: [{ payload_url: 'https://hooks.example.org/', event_types: ['push'], content_type: 'json' }],
      },
      { type: 'repository', url: other, owner: `${site}/bob`, name: 'secret', private: true, labels: [] },
    ],
    users: [{ url: `${site}/carol`, login: 'carol', name: 'Carol', emails: [{ address: 'carol@example.org' }] }],
    milestones: [{ url: `${home}/milestones/1`, title: 'v1', state: 'open', created_at: at(1) }],
    issues: [
      {
        ...{ url: `${home}/issues/1`, user: `${site}/carol`, title: 'First', created_at: at(2), updated_at: at(3) },
        body: `Text\n\n![shot](${site}/user-attachments/assets/11111111-2222-3333-4444-555555555555)`,
        ...{ labels: [`${home}/labels/good%20one`], milestone: `${home}/milestones/1`, closed_at: null },
        reactions: [{ user: `${site}/bob`, content: 'tada', subject_type: 'Issue', created_at: at(2) }],
        assignees: [],
      },
      { url: `${home}/issues/2`, user: `${site}/ghost`, title: 'Gone', body: '', closed_at: at(4), created_at: at(3) },
      { url: `${other}/issues/9`, user: `${site}/bob`, title: 'Hidden', body: '', created_at: at(1) },
    ],
    issue_comments: [
      {
        ...{ url: `${home}/issues/1#issuecomment-70`, issue: `${home}/issues/1`, user: `${site}/apps/robot` },
        ...{ body: 'A comment', created_at: at(5), reactions: [] },
      },
      {
        ...{ url: `${home}/pull/3#issuecomment-71`, pull_request: `${home}/pull/3`, user: `${site}/bob` },
        ...{ body: 'On the pull request', created_at: at(8) },
      },
      { url: `${other}/issues/9#issuecomment-72`, issue: `${other}/issues/9`, user: `${site}/bob`, body: 'Hidden' },
    ],
    issue_events: [
      { url: `${home}/issues/1#event-1`, issue: `${home}/issues/1`, actor: `${site}/bob`, event: 'locked' },
      { url: `${home}/issues/1#event-2`, issue: `${home}/issues/1`, actor: `${site}/bob`, event: 'pinned' },
    ],
    pull_requests: [
      {
        ...{ url: `${home}/pull/3`, user: `${site}/carol`, title: 'Change', body: 'Please', created_at: at(6) },
        base: { ref: 'main', sha: tip, user: `${site}/bob`, repo: home },
        head: { ref: 'topic', sha: tip, user: `${site}/bob`, repo: home },
        ...{ labels: [], assignees: [], reactions: [], merged_at: null, closed_at: null, work_in_progress: false },
      },
    ],
    pull_request_reviews: [
      {
        ...{ url: `${home}/pull/3/files#pullrequestreview-9`, pull_request: `${home}/pull/3`, user: `${site}/bob` },
        ...{ body: 'Fine', head_sha: tip, state: 40, submitted_at: at(7), created_at: at(7) },
      },
    ],
    pull_request_review_threads: [
      {
        ...{ url: `${home}/pull/3/files#pullrequestreviewthread-5`, pull_request: `${home}/pull/3` },
        ...{ resolver: `${site}/carol`, resolved_at: at(9) },
      },
    ],
    pull_request_review_comments: [
      {
        ...{ url: `${home}/pull/3/files#r12`, pull_request: `${home}/pull/3`, user: `${site}/bob`, state: 1 },
        pull_request_review: `${home}/pull/3/files#pullrequestreview-9`,
        pull_request_review_thread: `${home}/pull/3/files#pullrequestreviewthread-5`,
        ...{ body: 'At the line', path: 'README.md', diff_hunk: '@@ -0,0 +1 @@\n+hello', original_position: 1 },
        ...{ commit_id: tip, original_commit_id: tip, in_reply_to: null, created_at: at(7) },
      },
    ],
    protected_branches: [
      {
        ...{ name: 'main', url: `${home}/settings/branches/main`, repository_url: home },
        ...{ pull_request_reviews_enforcement_level: 'everyone', block_force_pushes_enforcement_level: 'everyone' },
      },
    ],
    releases: [
      {
        ...{ url: `${home}/releases/tag/v1`, user: `${site}/bob`, tag_name: 'v1', name: 'One', body: 'Notes' },
        ...{ state: 'published', prerelease: false, created_at: at(9), published_at: at(9) },
        release_assets: [
          { asset_name: 'good.txt', asset_url: 'tarball://root/releases/good.txt', created_at: at(9) },
          { asset_name: 'outside.txt', asset_url: 'tarball://root/../../outside', created_at: at(9) },
        ],
      },
    ],
    attachments: [
      {
        url: `${site}/user-attachments/assets/11111111-2222-3333-4444-555555555555`,
        ...{ issue: `${home}/issues/1`, asset_name: 'shot.txt', asset_url: 'tarball://root/attachments/shot.txt' },
      },
    ],
    commit_comments: [{ url: `${home}/commit/${tip}#commitcomment-1`, repository: home, body: 'x' }],
  };
  return {
    'schema.json': '{"version":"1.2.0"}',
    'releases/good.txt': 'good',
    'attachments/shot.txt': 'a picture',
    ...Object.fromEntries(
      Object.entries(rows).map(([kind, list]) => [`${kind}_000001.json`, JSON.stringify(list)] as const),
    ),
  };
}

const upload = `uploads/${'a'.repeat(32)}/shot.txt`;

/** Files of GitLab's project export, by their shapes. */
export function gitlabFiles(tip: string): Record<string, string> {
  const people = { author_id: 7, author: { name: 'alice' } };
  const rows: Record<string, object[]> = {
    project_members: [{ user_id: 5, user: { id: 5, username: 'carol', public_email: 'carol@example.org' } }],
    labels: [{ title: 'priority::high', color: '#ee0701', description: '', type: 'ProjectLabel' }],
    milestones: [{ title: 'v1', description: '', state: 'active', due_date: '2024-06-01', created_at: at(1) }],
    issues: [
      {
        ...{ iid: 1, title: 'First', description: `Text ![shot](/${upload})`, state: 'opened', author_id: 5 },
        ...{ created_at: at(2), updated_at: at(3), confidential: false, milestone: { title: 'v1', state: 'active' } },
        label_links: [{ label: { title: 'of a group', color: '#00ff00', type: 'GroupLabel' } }],
        issue_assignees: [{ user_id: 5 }],
        award_emoji: [{ name: 'thumbsup', user_id: 5 }],
        notes: [
          { id: 70, note: 'A comment', ...people, created_at: at(4), updated_at: at(4), system: false },
          { id: 71, note: 'closed', ...people, created_at: at(4), system: true },
          { id: 72, note: 'Between us', ...people, created_at: at(4), system: false, confidential: true },
        ],
      },
      { iid: 2, title: 'Hidden', description: '', state: 'opened', confidential: true, author_id: 5, notes: [] },
    ],
    merge_requests: [
      {
        ...{ iid: 1, title: 'Change', description: 'Please', state: 'opened', author_id: 5, created_at: at(5) },
        ...{ updated_at: at(6), source_branch: 'topic', target_branch: 'main' },
        ...{ source_project_id: 3, target_project_id: 3 },
        merge_request_diff: {
          base_commit_sha: tip,
          head_commit_sha: tip,
          merge_request_diff_commits: [{ sha: tip, relative_order: 0 }],
        },
        approvals: [{ user_id: 5, created_at: at(7) }],
        notes: [
          {
            ...{ id: 80, note: 'At the line', author_id: 5, discussion_id: 'd1', type: 'DiffNote', system: false },
            ...{ created_at: at(6), updated_at: at(6), resolved_at: at(8), resolved_by_id: 5 },
            position: JSON.stringify({ head_sha: tip, new_path: 'README.md', old_path: 'README.md', new_line: 1 }),
          },
          { id: 81, note: 'An answer', ...people, discussion_id: 'd1', type: 'DiffNote', created_at: at(7) },
        ],
      },
    ],
    releases: [
      {
        ...{ tag: 'v1', name: 'One', description: 'Notes', created_at: at(9), released_at: at(9), sha: tip },
        links: [{ name: 'build', url: 'https://git.example.org/build' }],
      },
    ],
    protected_branches: [{ name: 'main', push_access_levels: [{ access_level: 40 }], allow_force_push: false }],
    snippets: [{ id: 1, title: 'x' }],
  };
  return {
    VERSION: '0.2.4',
    'tree/project.json': JSON.stringify({ description: 'A tool', visibility_level: 10, hooks: [], deploy_keys: [] }),
    [upload]: 'a picture',
    ...Object.fromEntries(
      Object.entries(rows).map(([kind, list]) => [
        `tree/project/${kind}.ndjson`,
        list.map((row) => `${JSON.stringify(row)}\n`).join(''),
      ]),
    ),
  };
}

/** Files of a folder of what `gh` prints, by the fields that its manual has. */
export function ghFiles(tip: string): Record<string, string> {
  const bob = { login: 'bob', name: 'Bob', is_bot: false };
  return {
    'issues.json': JSON.stringify([
      {
        ...{ number: 1, title: 'First', body: 'Text', author: bob, state: 'CLOSED', stateReason: 'NOT_PLANNED' },
        ...{ createdAt: at(2), updatedAt: at(3), closedAt: at(3), isPinned: false, milestone: { title: 'v1' } },
        labels: [{ name: 'bug', color: 'ee0701', description: '' }],
        comments: [{ id: 'IC_x', author: bob, body: 'A comment', createdAt: at(3), url: `${home}#issuecomment-70` }],
      },
    ]),
    'pulls.json': JSON.stringify([
      {
        ...{ number: 3, title: 'Change', body: 'Please', author: bob, state: 'OPEN', createdAt: at(4) },
        ...{ headRefName: 'topic', headRefOid: tip, baseRefName: 'main', baseRefOid: tip, isCrossRepository: false },
        reviews: [{ id: 'PRR_x', author: bob, body: 'Fine', state: 'APPROVED', submittedAt: at(5) }],
      },
    ]),
    'repo.json': JSON.stringify({ name: 'tool', description: 'A tool', isPrivate: true }),
  };
}
