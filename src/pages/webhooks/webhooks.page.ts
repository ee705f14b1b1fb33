import { notFound } from '../../kernel/index.ts';
import { webhookEvents } from '../../webhooks/index.ts';
import type { WebhookScope } from '../../webhooks/index.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { eventWords, viewDelivery, viewWebhook } from './webhook.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from '../runs/scopes.ts';
import { queryNumber } from '../../http/index.ts';
import type { WebhooksDeps } from './deps.ts';

/** The pages about the webhooks of one kind of owner. */
export interface WebhookPages<V extends PersonContext> {
  list: Page<V, WebhooksDeps>;
  /** Fields `url`, `secret`, `events` (several), `active`. */
  add: Page<V, WebhooksDeps>;
  show: Page<V, WebhooksDeps>;
  /** The same fields; an empty secret keeps the current one, `remove_secret` removes it. */
  edit: Page<V, WebhooksDeps>;
  remove: Page<V, WebhooksDeps>;
  test: Page<V, WebhooksDeps>;
  redeliver: Page<V, WebhooksDeps>;
}

const perPage = 20;
/** Evaluated for each page, in the language of its reader. */
const choicesOf = () => webhookEvents.map((event) => ({ value: event, text: eventWords[event] }));

export function webhookPages<V extends PersonContext>(placeOf: ScopePageOf<V>): WebhookPages<V> {
  const scopeOf = (context: V) => placeOf(context).scope as WebhookScope;
  const listUrl = (context: V): string => `${placeOf(context).url}/webhooks`;
  const hookUrl = (context: V): string => `${listUrl(context)}/${context.params['hook'] ?? ''}`;
  const hookId = (context: V): string => context.params['hook'] ?? '';

  const input = ({ form }: V) => ({
    url: form.text('url'),
    events: form.all('events'),
    isActive: form.text('active') === 'yes',
  });

  async function listPage(
    context: V,
    { webhooks, clock, config }: WebhooksDeps,
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const rows = await webhooks.list(scopeOf(context));
    const typed = input(context);
    return page('webhooks/webhooks', {
      place: placeOf(context),
      webhooks: rows.map((row) => viewWebhook(row, listUrl(context), clock.now())),
      choices: choicesOf(),
      // Submitted secrets are never sent back in a page.
      form: refusal === null ? { url: '', events: ['push'], isActive: true } : typed,
      hasAddress: config.baseUrl !== null,
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  async function showPage(
    context: V,
    { webhooks, clock }: WebhooksDeps,
    refusal: FormRefusal | null,
  ): Promise<PageReply> {
    const before = queryNumber(context.query, 'before');
    const hook = await webhooks.find(scopeOf(context), hookId(context));
    const rows = await webhooks.listDeliveries(scopeOf(context), hook.id, { limit: perPage + 1, before });
    const last = rows.length > perPage ? rows[perPage - 1] : undefined;
    return page('webhooks/webhook', {
      place: placeOf(context),
      webhook: viewWebhook(hook, listUrl(context), clock.now()),
      choices: choicesOf(),
      form: refusal === null ? { url: hook.url, events: hook.events, isActive: hook.isActive } : input(context),
      deliveries: rows.slice(0, perPage).map((row) => viewDelivery(row, clock.now())),
      next: last === undefined ? null : `${hookUrl(context)}?before=${last.id}`,
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  const done =
    (
      work: (context: V, deps: WebhooksDeps) => Promise<unknown>,
      to: (context: V) => string,
      notice: string,
    ): Page<V, WebhooksDeps> =>
    async (context, deps) => {
      await work(context, deps);
      return seeOther(withFlashMessage(to(context), notice));
    };

  return {
    list: (context, deps) => listPage(context, deps, null),
    add: (context, deps): Promise<Reply> =>
      submitForm(
        async () => {
          const { id } = await deps.webhooks.add(context.viewer, scopeOf(context), {
            ...input(context),
            secret: context.form.text('secret'),
          });
          return seeOther(withFlashMessage(`${listUrl(context)}/${id}`, 'webhook-added'));
        },
        (refusal) => listPage(context, deps, refusal),
      ),
    show: (context, deps) => showPage(context, deps, null),
    edit: (context, deps): Promise<Reply> =>
      submitForm(
        async () => {
          const secret = context.form.text('remove_secret') === 'yes' ? null : context.form.text('secret');
          await deps.webhooks.edit(context.viewer, scopeOf(context), hookId(context), { ...input(context), secret });
          return seeOther(withFlashMessage(hookUrl(context), 'webhook-saved'));
        },
        (refusal) => showPage(context, deps, refusal),
      ),
    remove: done(
      (context, { webhooks }) => webhooks.remove(context.viewer, scopeOf(context), hookId(context)),
      listUrl,
      'webhook-removed',
    ),
    test: done((context, { webhooks }) => webhooks.test(scopeOf(context), hookId(context)), hookUrl, 'webhook-tested'),
    redeliver: done(
      (context, { webhooks }) => {
        const delivery = context.params['delivery'] ?? '';
        if (!/^\d{1,15}$/.test(delivery)) throw notFound('delivery_not_found', 'There is no such delivery.');
        return webhooks.redeliver(scopeOf(context), hookId(context), Number(delivery));
      },
      hookUrl,
      'webhook-redelivered',
    ),
  };
}
