import { bindDeps } from '../kernel/index.ts';
import type { Config } from '../config/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { listDeliveries, redeliver, redeliverAny, testWebhook } from './deliveries.ts';
import { webhookKind } from './enqueue-delivery.ts';
import { webhookHandler } from './send-delivery.ts';
import { onDeployment } from './on-deployment.ts';
import { onEntry } from './on-entry.ts';
import { onFork } from './on-fork.ts';
import { onWiki } from './on-wiki.ts';
import { onPush } from './on-push.ts';
import { onPackage } from './on-package.ts';
import { onRelease } from './on-release.ts';
import { onStatus } from './on-status.ts';
import { onRunFinished } from './on-run-finished.ts';
import { addWebhook, editWebhook, findWebhook, listWebhooks, removeWebhook } from './manage-webhooks.ts';
import { reencryptSecrets } from './encrypt-secret.ts';
import type { WebhookDeps } from './deps.ts';
import type { WebhookScope } from './scope.ts';

interface WebhookOptions extends Omit<WebhookDeps, 'settings' | 'outbound' | 'key'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'ssh' | 'webhooks'>;
  /** The instance key, which decrypts stored secrets. */
  keyFile: string;
}

/** Webhooks and their delivery queue. The caller checks access to their scope. */
export function createWebhooks({ config, keyFile, ...tools }: WebhookOptions) {
  const { baseUrl, caFile, webhooks } = config;
  // Hosts on the administrator's list: any address, and also http.
  const isNamed = (url: URL): boolean => isAllowedHost(url, webhooks.allowedHosts);
  const deps: WebhookDeps = {
    ...tools,
    outbound: createOutbound({
      // Any public host is allowed; a private one has to be listed.
      isAllowed: () => true,
      devAllowInsecure: false,
      allowsPrivate: isNamed,
      allowsHttp: isNamed,
      baseUrl,
      caFile,
    }),
    key: new InstanceKey(keyFile, tools.random, 'webhooks'),
    settings: { baseUrl, sshOrigin: sshOrigin(config), maxAttempts: webhooks.maxAttempts },
  };
  const { outbox } = deps;
  outbox.register(webhookHandler(deps));
  const wake = (): void =>
    void outbox.drain(webhookKind).catch((error: unknown) => deps.logger.error('webhook.drain_failed', { error }));

  const bind = bindDeps(deps);

  return {
    list: bind(listWebhooks),
    /** After a rotation of the instance key. */
    reencrypt: bind(reencryptSecrets),
    find: bind(findWebhook),
    add: bind(addWebhook),
    edit: bind(editWebhook),
    remove: bind(removeWebhook),
    listDeliveries: bind(listDeliveries),
    /** Sent at once, in parallel to the response. */
    async redeliver(scope: WebhookScope, webhookId: string, deliveryId: number): Promise<number> {
      const id = await redeliver(deps, scope, webhookId, deliveryId);
      wake();
      return id;
    },
    async redeliverAny(deliveryId: number): Promise<number> {
      const id = await redeliverAny(deps, deliveryId);
      wake();
      return id;
    },
    async test(scope: WebhookScope, webhookId: string): Promise<number> {
      const id = await testWebhook(deps, scope, webhookId);
      wake();
      return id;
    },

    /** For `repositories.pushes.onPush`. */
    onPush: onPush(deps, wake),
    /** For `issues.onEntry`. */
    onEntry: onEntry(deps, wake),
    /** For `repositories.wikis.onChange`. */
    onWiki: onWiki(deps),
    /** For `repositories.forks.onFork`. */
    onFork: onFork(deps),
    /** For `releases.onEvent`. */
    onRelease: onRelease(deps),
    /** For `packages.onEvent`. */
    onPackage: onPackage(deps),
    /** For `repositories.statuses.onRecord`. */
    onStatus: onStatus(deps),
    /** For `ci.onDeployment`. */
    onDeployment: onDeployment(deps),
    /** For `ci.onRunEnd`. */
    onRunEnd: onRunFinished(deps),
    /** For the scheduled task: sends what is due. */
    drain: () => outbox.drain(webhookKind),
    /** For the scheduled task. */
    removeOld: () => outbox.removeOld(webhookKind),
    /** After the outbox has stopped. */
    stop: (): void => deps.outbound.close(),
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** A port that the system picks is unknown before the server listens; then payloads have only https URLs. */
function sshOrigin({ baseUrl, ssh }: WebhookOptions['config']): string | null {
  const port = ssh.publicPort ?? ssh.listen.port;
  if (baseUrl === null || !ssh.enabled || port === 0) return null;
  return `ssh://git@${ssh.publicHost ?? new URL(baseUrl).hostname}${port === 22 ? '' : `:${port}`}`;
}
