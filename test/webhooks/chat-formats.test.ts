import t from 'tap';
import { formatDelivery } from '../../src/webhooks/chat-formats.ts';
import { deliveryHeaders } from '../../src/webhooks/sign-delivery.ts';
import { webhookKinds } from '../../src/webhooks/index.ts';

const repository = { full_name: 'alice/site', html_url: 'https://git.example.org/repos/alice/site' };
const sender = {
  login: 'bob',
  full_name: 'Bob <b>',
  avatar_url: 'https://git.example.org/avatars/b.svg',
  html_url: '',
};
const issue = {
  action: 'opened',
  issue: {
    number: 7,
    title: '<!channel> & "quotes" @everyone',
    html_url: `${repository.html_url}/issues/7`,
    body: 'It <i>squeaks</i>.',
  },
  repository,
  sender,
};
const push = {
  ref: 'refs/heads/main',
  total_commits: 2,
  compare_url: `${repository.html_url}/compare/a...b`,
  commits: [
    { id: '0123456789abcdef', message: 'Oil the gate\n\nlong', author: { name: 'Bob' } },
    { id: 'fedcba9876543210', message: 'x'.repeat(1000), author: { name: 'Bob' } },
  ],
  repository,
  sender,
};
const to = (kind: (typeof webhookKinds)[number], contentType: 'json' | 'form' = 'json') => ({
  kind,
  contentType,
  url: 'https://chat.example.org/rooms/!a/send/m.room.message',
  channel: '#builds',
});
const sent = (kind: (typeof webhookKinds)[number], event: string, payload: object) => {
  const delivery = formatDelivery(to(kind), { event, uuid: 'd-1' }, JSON.stringify(payload));
  const isJson = delivery.contentType === 'application/json';
  return { ...delivery, json: isJson ? JSON.parse(delivery.body.toString()) : null, text: delivery.body.toString() };
};

t.test('receivers of code get the payload as it is, as JSON or as a form', async (t) => {
  const payload = JSON.stringify(push);
  for (const kind of ['gitea', 'forgejo', 'gogs'] as const) {
    t.strictSame(formatDelivery(to(kind), { event: 'push', uuid: 'd' }, payload).body.toString(), payload);
    const form = formatDelivery(to(kind, 'form'), { event: 'push', uuid: 'd' }, payload);
    t.equal(form.contentType, 'application/x-www-form-urlencoded');
    t.equal(new URLSearchParams(form.body.toString()).get('payload'), payload);
  }
});

t.test('every chat gets every event, and no text of a user becomes markup or a call', async (t) => {
  for (const kind of webhookKinds.filter((each) => !['gitea', 'forgejo', 'gogs'].includes(each))) {
    for (const [event, payload] of [
      ['push', push],
      ['issues', issue],
      ['ping', {}],
      ['issue_comment', { ...issue, comment: { html_url: 'https://git.example.org/c', body: 'yes' } }],
      ['something_new', { repository, sender }],
    ] as const)
      t.ok(sent(kind, event, payload).body.length > 5, `${kind} ${event}`);
  }
  t.match(sent('slack', 'issues', issue).json, { channel: '#builds', text: /&lt;!channel&gt; &amp; "quotes"/ });
  t.strictSame(sent('discord', 'issues', issue).json.allowed_mentions, { parse: [] });
  t.match(sent('telegram', 'issues', issue).json, { parse_mode: 'HTML', text: /&lt;!channel&gt;/ });
  t.notMatch(sent('telegram', 'issues', issue).json.text, /<i>/);
  t.notMatch(sent('matrix', 'issues', issue).json.formatted_body, /<i>|<!channel/);
  t.match(sent('matrix', 'push', push), { method: 'PUT', url: /m\.room\.message\/[0-9a-f]{32}$/ });
  t.equal(sent('matrix', 'push', push).url, sent('matrix', 'push', push).url, 'asked again it is the same message');
  t.match(sent('msteams', 'push', push).json, {
    '@type': 'MessageCard',
    title: '[alice/site] Bob &lt;b&gt; pushed 2 commits to main',
  });
  t.match(sent('ntfy', 'push', push), { contentType: /^text\/plain/, headers: { 'X-Click': push.compare_url } });
  t.ok(sent('ntfy', 'push', push).body.length < 5000, 'long texts are cut');
});

t.test('a delivery has the headers of four families, and five signatures', async (t) => {
  const body = Buffer.from('{}');
  const headers = deliveryHeaders({ event: 'push', uuid: 'd-1', body, secret: 's' });
  for (const family of ['Gitea', 'Forgejo', 'Gogs', 'GitHub'])
    t.match(
      headers,
      { [`X-${family}-Event`]: 'push', [`X-${family}-Event-Type`]: 'push', [`X-${family}-Delivery`]: 'd-1' },
      family,
    );
  t.match(headers, {
    'X-Gitea-Signature': /^[0-9a-f]{64}$/,
    'X-Forgejo-Signature': headers['X-Gitea-Signature'],
    'X-Gogs-Signature': headers['X-Gitea-Signature'],
    'X-Hub-Signature': /^sha1=[0-9a-f]{40}$/,
    'X-Hub-Signature-256': `sha256=${headers['X-Gitea-Signature']}`,
  });
  const unsigned = deliveryHeaders({ event: 'push', uuid: 'd-1', body, secret: null });
  t.notOk(Object.keys(unsigned).some((name) => /signature/i.test(name)));
});
