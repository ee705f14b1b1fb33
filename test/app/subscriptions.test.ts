// Every event has one list of listeners, in the order in which they are called.
import t from 'tap';
import { listenersOf } from '../../src/app/index.ts';
import { openFederation } from '../federation/federation-fixture.ts';
import { startWeb } from '../fixtures/web-fixture.ts';

const names = (listeners: readonly { name: string }[]): string[] => listeners.map(({ name }) => name);

t.test('listeners are called in this order', async (t) => {
  const { modules } = await startWeb(t);
  const listeners = listenersOf(modules);
  t.strictSame(
    names(listeners.push),
    ['undo', 'ci', 'pulls', 'issues', 'releases', 'webhooks', 'mirrors', 'code-search'],
    'of pushes, without federation',
  );
  t.strictSame(
    names(listeners.entry),
    ['review turns', 'webhooks', 'ci', 'ci_issues', 'notifications'],
    'of entries of issues and pull requests',
  );
  const { webhooks, pulls, notifications, ci, organisations } = modules;
  t.strictSame(listeners.runEnd, [webhooks.onRunEnd, pulls.queue.onRunEnd, notifications.onRunEnd]);
  t.strictSame(listeners.deployment, [webhooks.onDeployment]);
  t.strictSame(listeners.deploymentReview, [notifications.onDeploymentReview]);
  t.strictSame(listeners.release, [ci.onRelease, webhooks.onRelease, notifications.onRelease]);
  t.strictSame(listeners.commitStatus, [pulls.onStatus]);
  t.strictSame(listeners.recordedStatus, [webhooks.onStatus]);
  t.strictSame(listeners.fork, [webhooks.onFork]);
  t.strictSame(listeners.defaultBranch, [ci.onDefaultBranch]);
  t.strictSame(listeners.restoreFromTrash, [pulls.onRestore]);
  t.strictSame(listeners.signUp, [organisations.joinInvited]);
  t.strictSame(names(listeners.securityEvent), ['onAccessGiven'], 'without mail, nobody is told of sign-ins');
  t.equal(listeners.accountDeletion.length, 2);
});

t.test('federation is notified of pushes before the index of code', async (t) => {
  const { modules, federation } = await openFederation(t);
  t.strictSame(names(listenersOf({ ...modules, federation }).push).slice(-3), ['mirrors', 'federation', 'code-search']);
});

t.test('no constructor subscribes by itself: a list has all listeners that were registered', async (t) => {
  const { modules } = await startWeb(t);
  for (const listener of listenersOf(modules).push)
    t.throws(() => modules.repositories.pushes.onPush(listener), /two push listeners are called/, listener.name);
  for (const listener of listenersOf(modules).entry)
    t.throws(() => modules.issues.onEntry(listener), /two listeners of entries are called/, listener.name);
});
