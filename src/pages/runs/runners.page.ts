import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewRunner, viewRunnerTasks } from './runner.view.ts';
import { runnerFile, runnerSetup } from './runner-setup.ts';
import type { RunnerIdentity } from './runner-setup.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { ScopePageOf } from './scopes.ts';
import { queryNumber, runPathNumber } from '../../http/index.ts';
import type { RunsDeps } from './deps.ts';

/** The pages for the runners of one kind of scope. */
interface RunnerPages<V extends PersonContext> {
  show: Page<V, RunsDeps>;
  /** Creates a new registration token; the previous one stops working. Redirects to the page that shows it once. */
  resetToken: Page<V, RunsDeps>;
  showToken: Page<V, RunsDeps>;
  /** Fields `name`, `ephemeral`. Redirects to the page that shows its configuration once. */
  add: Page<V, RunsDeps>;
  showNew: Page<V, RunsDeps>;
  /** One runner: its current job, its labels, its past jobs. Query: `before`. */
  showOne: Page<V, RunsDeps>;
  /** Field `labels`, separated by spaces or commas; or `reset`: `yes` restores the labels that the runner declares. */
  setLabels: Page<V, RunsDeps>;
  pause: Page<V, RunsDeps>;
  resume: Page<V, RunsDeps>;
  /** Field `only`: `yes` excludes code of users without write access. */
  setTrust: Page<V, RunsDeps>;
  remove: Page<V, RunsDeps>;
}

/** Number of history rows on a page. */
const historyRows = 50;

export function runnerPages<V extends PersonContext>(placeOf: ScopePageOf<V>): RunnerPages<V> {
  const list = (context: V): string => `${placeOf(context).url}/runners`;

  async function runnersPage(context: V, deps: RunsDeps, refusal: FormRefusal | null): Promise<PageReply> {
    const { ci, clock } = deps;
    const place = placeOf(context);
    const [{ rows: runners, ...beside }, madeAt] = await Promise.all([
      numberedPage((paging) => ci.runners.list(place.scope, paging), context.query, list(context)),
      ci.runners.registrationTokenMadeAt(place.scope),
    ]);
    const running = await ci.runners.runningTasks(runners.map(({ id }) => id));
    const jobs = await viewRunnerTasks(running, deps);
    return page('runs/runners', {
      place,
      runners: runners.map((runner) => ({
        ...viewRunner(runner, clock.now()),
        url: `${list(context)}/${runner.id}`,
        jobs: jobs.filter(({ runnerId }) => runnerId === runner.id),
      })),
      ...beside,
      hasToken: madeAt !== null,
      form: { name: context.form.text('name') },
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  async function runnerPage(context: V, deps: RunsDeps, refusal: FormRefusal | null): Promise<PageReply> {
    const { ci, clock } = deps;
    const place = placeOf(context);
    const runner = await ci.runners.find(place.scope, runPathNumber(context.params.id));
    const url = `${list(context)}/${runner.id}`;
    const running = await ci.runners.runningTasks([runner.id]);
    const { tasks, next } = await ci.runners.tasksOf(runner, {
      limit: historyRows,
      before: queryNumber(context.query, 'before') ?? null,
    });
    const isOpen = new Set(running.map(({ taskId }) => taskId));
    return page('runs/runner', {
      place,
      runner: { ...viewRunner(runner, clock.now()), url },
      jobs: await viewRunnerTasks(running, deps),
      history: await viewRunnerTasks(
        tasks.filter(({ taskId }) => !isOpen.has(taskId)),
        deps,
      ),
      next: next === null ? null : `${url}?before=${next}`,
      labels: refusal === null ? runner.labels.join(' ') : context.form.text('labels'),
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  const switchTo =
    (isDisabled: boolean, notice: string): Page<V, RunsDeps> =>
    async (context, { ci }): Promise<Reply> => {
      await ci.runners.setDisabled(placeOf(context).scope, runPathNumber(context.params.id), isDisabled);
      return seeOther(withFlashMessage(list(context), notice));
    };

  return {
    show: (context, deps) => runnersPage(context, deps, null),

    resetToken: async (context, { ci, oneTimeSecrets }) => {
      const { scope } = placeOf(context);
      const token = await ci.runners.resetRegistrationToken(scope, context.person.id);
      return seeOther(
        `${list(context)}/token/${await oneTimeSecrets.store(context.person.id, { name: 'registration', value: token })}`,
      );
    },
    showToken: async (context, { oneTimeSecrets }) => {
      const secret = await oneTimeSecrets.take(context.person.id, context.params.oneTimeToken ?? '');
      if (secret === null) return seeOther(withFlashMessage(list(context), 'runner-token-gone'));
      return page(
        'runs/runner-token',
        {
          place: placeOf(context),
          token: secret.value,
          origin: context.origin,
          setup: runnerSetup({ kind: 'registration', token: secret.value }, context.origin),
        },
        { showsSecret: true },
      );
    },

    add: (context, deps) =>
      submitForm(
        async () => {
          const { form, person } = context;
          const { scope } = placeOf(context);
          const { runner, token } = await deps.ci.runners.create(scope, {
            name: form.text('name'),
            ephemeral: form.text('ephemeral') === 'yes',
          });
          const { id, uuid, name, ephemeral } = runner;
          const value = JSON.stringify({ kind: 'created', id, uuid, name, ephemeral, token } satisfies RunnerIdentity);
          return seeOther(
            `${list(context)}/new/${await deps.oneTimeSecrets.store(person.id, { name: 'runner', value })}`,
          );
        },
        (refusal) => runnersPage(context, deps, refusal),
      ),
    showNew: async (context, { oneTimeSecrets }) => {
      const secret = await oneTimeSecrets.take(context.person.id, context.params.oneTimeToken ?? '');
      if (secret === null) return seeOther(withFlashMessage(list(context), 'runner-token-gone'));
      const runner = JSON.parse(secret.value) as Extract<RunnerIdentity, { kind: 'created' }>;
      return page(
        'runs/new-runner',
        {
          place: placeOf(context),
          runner,
          file: runnerFile(runner, context.origin, ['linux:host']),
          setup: runnerSetup(runner, context.origin),
        },
        { showsSecret: true },
      );
    },

    showOne: (context, deps) => runnerPage(context, deps, null),
    setLabels: (context, deps) =>
      submitForm(
        async () => {
          const { form } = context;
          const id = runPathNumber(context.params.id);
          const chosen = form.text('reset') === 'yes' ? null : form.text('labels').split(/[\s,]+/);
          await deps.ci.runners.setLabels(placeOf(context).scope, id, chosen);
          return seeOther(
            withFlashMessage(`${list(context)}/${id}`, chosen === null ? 'runner-labels-reset' : 'runner-labels'),
          );
        },
        (refusal) => runnerPage(context, deps, refusal),
      ),

    pause: switchTo(true, 'runner-paused'),
    resume: switchTo(false, 'runner-resumed'),
    setTrust: async (context, { ci }) => {
      const only = context.form.text('only') === 'yes';
      await ci.runners.setTrustedOnly(placeOf(context).scope, runPathNumber(context.params.id), only);
      return seeOther(withFlashMessage(list(context), only ? 'runner-trusted-only' : 'runner-any-code'));
    },
    remove: async (context, { ci }) => {
      await ci.runners.remove(placeOf(context).scope, runPathNumber(context.params.id));
      return seeOther(withFlashMessage(list(context), 'runner-removed'));
    },
  };
}
