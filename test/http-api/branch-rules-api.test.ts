// Rules for branches and tags in the shapes that clients of Gitea read and send.
import t from 'tap';
import { generateKey } from '../../src/openssh/index.ts';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const { accounts } = web.modules;
const at = '/repos/alice/roof';

type Json = { [name: string]: unknown };
async function callerOf(username: string, access: 'read' | 'write' | 'admin' = 'admin') {
  const person = await accounts.personByUsername(username).catch(() => accounts.addPerson({ username }));
  const { secret } = await accounts.addToken(person.id, {
    name: `${username} ${access}`,
    access,
    repositoryIds: null,
    expiresAt: null,
  });
  return async (method: string, path: string, body?: unknown): Promise<PageResponse & { json: Json }> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        Authorization: `token ${secret}`,
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(text)),
        }),
      },
      ...(text !== undefined && { body: text }),
    });
    return { ...response, json: (response.body === '' ? null : JSON.parse(response.body)) as Json };
  };
}

const alice = await callerOf('alice');
const bob = await callerOf('bob');
await alice('POST', '/repos', { name: 'roof', visibility: 'PUBLIC' });
await alice('POST', `${at}/collaborators`, { username: 'bob', role: 'write' });

/** What the Go SDK of Gitea sends: every field of its option, empty where it is not set. */
const fromSdk = {
  branch_name: '',
  rule_name: 'release/*',
  enable_push: true,
  enable_push_whitelist: true,
  push_whitelist_usernames: ['bob'],
  push_whitelist_teams: null,
  push_whitelist_deploy_keys: false,
  enable_merge_whitelist: false,
  merge_whitelist_usernames: null,
  merge_whitelist_teams: null,
  enable_status_check: false,
  status_check_contexts: null,
  required_approvals: 0,
  enable_approvals_whitelist: false,
  approvals_whitelist_username: null,
  approvals_whitelist_teams: null,
  block_on_rejected_reviews: false,
  block_on_official_review_requests: false,
  block_on_outdated_branch: false,
  dismiss_stale_approvals: false,
  require_signed_commits: false,
  protected_file_patterns: '',
  unprotected_file_patterns: '',
};

t.test('a rule for branches as a client of Gitea makes, reads, edits and removes it', async (t) => {
  const rules = `${at}/branch_protections`;
  t.strictSame((await alice('GET', rules)).json, [], 'nobody has made the one that it begins with');
  const usual = (await alice('GET', `${rules}/~DEFAULT_BRANCH`)).json;
  t.match(usual, {
    rule_name: '~DEFAULT_BRANCH',
    enable_push: true,
    enable_push_whitelist: false,
    enable_force_push: false,
    push_level: 'write',
    push_tasks: true,
  });
  const made = await alice('POST', rules, fromSdk);
  t.match(
    [made.status, made.headers.location, made.json],
    [
      201,
      `/api/v1${rules}/release%2F*`,
      {
        rule_name: 'release/*',
        branch_name: 'release/*',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: ['bob'],
        push_level: 'nobody',
        enable_force_push: false,
        create_level: 'write',
        delete_level: 'nobody',
        require_linear_history: false,
      },
    ],
  );
  const one = `${rules}/release%2F*`;
  t.match(await alice('GET', one), { status: 200, json: { rule_name: 'release/*' } });
  t.match((await alice('PATCH', one, { require_linear_history: true, enable_force_push: true })).json, {
    require_linear_history: true,
    enable_force_push: true,
    force_push_level: 'write',
    push_whitelist_usernames: ['bob'],
  });
  t.match((await alice('PATCH', one, { enable_push: false, delete_level: 'owner' })).json, {
    enable_push: false,
    push_level: 'nobody',
    push_whitelist_usernames: [],
    push_tasks: false,
    delete_level: 'owner',
  });
  t.match(await alice('POST', rules, { rule_name: 'release/*' }), {
    status: 409,
    json: { error: { code: 'rule_exists' } },
  });
  const merging = { required_approvals: 2, enable_status_check: true, status_check_contexts: ['build'] };
  t.match(await alice('POST', rules, { ...fromSdk, rule_name: 'x', ...merging }), { status: 201, json: merging });
  t.match(await alice('PATCH', `${rules}/x`, { required_approvals: -1 }), { status: 422 });
  const approving = (is: boolean, ...people: string[]) => ({
    enable_approvals_whitelist: is,
    approvals_whitelist_username: people,
    approvals_whitelist_teams: [],
  });
  for (const [sent, shown] of [
    [{ enable_approvals_whitelist: true, approvals_whitelist_username: ['bob'] }, approving(true, 'bob')],
    [{ required_approvals: 2 }, approving(true, 'bob')],
    [{ enable_approvals_whitelist: false, approvals_whitelist_username: ['bob'] }, approving(false)],
    [{ approvals_whitelist_username: ['alice'], approvals_whitelist_teams: null }, approving(true, 'alice')],
    [{ approvals_whitelist_username: [] }, approving(true)],
  ] as const)
    t.match(await alice('PATCH', `${rules}/x`, sent), { status: 200, json: shown }, JSON.stringify(sent));
  for (const [names, status] of [
    [{ approvals_whitelist_username: ['nobody'] }, 404],
    [{ approvals_whitelist_teams: ['devs'] }, 422],
  ] as const)
    t.equal((await alice('PATCH', `${rules}/x`, names)).status, status, JSON.stringify(names));
  t.match((await alice('PATCH', `${rules}/x`, { enable_status_check: false })).json, {
    required_approvals: 2,
    enable_status_check: false,
  });
  t.equal((await alice('DELETE', `${rules}/x`)).status, 204);
  t.match(await alice('POST', rules, {}), { status: 422, json: { error: { code: 'invalid_pattern' } } });
  t.match(await alice('POST', rules, { rule_name: 'a b' }), { status: 422, json: { error: { field: 'pattern' } } });
  t.equal((await alice('DELETE', one)).status, 204);
  t.match(await alice('GET', one), { status: 404, json: { error: { code: 'rule_not_found' } } });
});

t.test('a rule for tags', async (t) => {
  const rules = `${at}/tag_protections`;
  t.same((await alice('GET', rules)).json, []);
  const body = { name_pattern: 'v*', whitelist_usernames: ['bob'], whitelist_teams: null };
  const made = await alice('POST', rules, body);
  t.match(
    [made.status, made.json],
    [201, { name_pattern: 'v*', whitelist_usernames: ['bob'], create_level: 'nobody', move_level: 'nobody' }],
  );
  const one = `${rules}/${made.json['id']}`;
  t.match((await alice('GET', one)).json, made.json);
  t.match((await alice('PATCH', one, { name_pattern: 'v?*', create_level: 'owner' })).json, {
    name_pattern: 'v?*',
    create_level: 'owner',
    whitelist_usernames: ['bob'],
  });
  t.equal((await alice('POST', rules, { name_pattern: '/^v/' })).status, 422, 'no regular expressions');
  t.equal((await alice('DELETE', one)).status, 204);
  t.equal((await alice('GET', one)).status, 404);
});

t.test('rules are for those who administer the repository', async (t) => {
  const readsOnly = await callerOf('alice', 'write');
  for (const path of ['branch_protections', 'tag_protections']) {
    t.equal((await bob('GET', `${at}/${path}`)).status, 404);
    t.equal((await bob('POST', `${at}/${path}`, { rule_name: 'x' })).status, 404);
    t.equal((await readsOnly('GET', `${at}/${path}`)).status, 403, 'a token of scope admin');
  }
});

t.test('the field of the repository is the rule for its default branch', async (t) => {
  t.match((await alice('GET', at)).json, { defaultBranchProtected: true });
  t.match((await alice('PATCH', at, { defaultBranchProtected: false })).json, { defaultBranchProtected: false });
  t.same((await alice('GET', `${at}/branch_protections`)).json, []);
  t.match((await alice('PATCH', at, { defaultBranchProtected: true })).json, { defaultBranchProtected: true });
  t.match((await alice('GET', '/repos?owner=alice')).json, [{ defaultBranchProtected: true }]);
});

t.test('deploy keys in Gitea’s shape, and as a subject of rules', async (t) => {
  const { blob } = generateKey('robot');
  const key = `ssh-ed25519 ${blob.toString('base64')} robot@example.org`;
  t.match(await alice('GET', `${at}/keys`), { status: 200, json: [] });
  const made = await alice('POST', `${at}/keys`, { title: 'web server', key, read_only: false });
  t.match(made, {
    status: 201,
    json: { title: 'web server', read_only: false, added_by: 'alice', last_used_at: null, key: /^ssh-ed25519 \S+$/ },
  });
  const { id, fingerprint } = made.json;
  t.match(await alice('GET', `${at}/keys/${String(id)}`), { status: 200, json: made.json });
  t.match(await alice('GET', `${at}/keys?fingerprint=${encodeURIComponent(String(fingerprint))}`), { json: [{ id }] });
  t.match(await alice('GET', `${at}/keys?key_id=7`), { status: 200, json: [] });
  t.match(await alice('POST', `${at}/keys`, { title: 'again', key }), { status: 409 });
  t.match(await alice('POST', '/user/keys', { title: 'mine', key }), { status: 409 }, 'nor a key of a person');
  t.match(await alice('POST', `${at}/keys`, { title: 'bad', key: 'ssh-dss AAAA' }), { status: 422 });
  for (const caller of [bob, await callerOf('carol')]) {
    t.match(await caller('GET', `${at}/keys`), { status: /^40[34]$/ });
    t.match(await caller('POST', `${at}/keys`, { key }), { status: /^40[34]$/ });
    t.match(await caller('DELETE', `${at}/keys/${String(id)}`), { status: /^40[34]$/ });
  }
  t.match(await alice('DELETE', `${at}/keys/${String(id)}`), { status: 204 });
  t.match(await alice('GET', `${at}/keys/${String(id)}`), { status: 404 });

  const rules = `${at}/branch_protections`;
  const add = (rule_name: string, more: object) => alice('POST', rules, { rule_name, ...more });
  t.match(await add('k1', {}), { json: { push_deploy_keys: true, push_whitelist_deploy_keys: false } }, 'as others');
  t.match(
    await add('k2', { enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: ['bob'] }),
    { json: { push_deploy_keys: false, push_whitelist_deploy_keys: false } },
    'a list leaves them out',
  );
  t.match(await add('k3', { enable_push: true, enable_push_whitelist: true, push_whitelist_deploy_keys: true }), {
    json: { enable_push: true, enable_push_whitelist: true, push_deploy_keys: true, push_whitelist_deploy_keys: true },
  });
  t.match(await alice('PATCH', `${rules}/k3`, { enable_push: false }), {
    json: { enable_push: false, push_deploy_keys: false },
  });
  t.match(await alice('PATCH', `${rules}/k1`, { force_push_deploy_keys: true, create_deploy_keys: false }), {
    json: { push_deploy_keys: true, force_push_deploy_keys: true, create_deploy_keys: false },
  });
  for (const name of ['k1', 'k2', 'k3']) await alice('DELETE', `${rules}/${name}`);
});
