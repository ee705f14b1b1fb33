import type { Json, JsonObject } from './json.ts';
import { shortRef } from '../kernel/index.ts';

/** Summary of an event for a chat message. */
export interface EventSummary {
  /** One line without markup. */
  title: string;
  /** Further lines; empty if there are none. */
  text: string;
  /** URL of the page of the subject. */
  url: string;
  /** Name of the user, and the URLs of avatar and page. */
  sender: { name: string; avatar: string; url: string };
}

const maxLines = 10;
const maxLine = 200;

/** The first lines of a text, each truncated. */
function excerpt(text: string): string {
  const lines = text.trim().split(/\r?\n/);
  const shown = lines.slice(0, maxLines).map((line) => (line.length > maxLine ? `${line.slice(0, maxLine)}…` : line));
  return lines.length > maxLines ? [...shown, '…'].join('\n') : shown.join('\n');
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text or number at a path of the payload; empty if there is none. */
function at(value: Json, path: string): string {
  let found: Json | undefined = value;
  for (const key of path.split('.')) found = isObject(found) ? found[key] : undefined;
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '';
}

/**
 * @param payload in Gitea's format
 */
export function summarizeEvent(event: string, payload: JsonObject): EventSummary {
  const of = (path: string): string => at(payload, path);
  const repository = of('repository.full_name');
  const sender = {
    name: of('sender.full_name') || of('sender.login') || 'Hearth',
    avatar: of('sender.avatar_url'),
    url: of('sender.html_url'),
  };
  const page = of('repository.html_url');
  const told = (title: string, url: string, text = ''): EventSummary => ({
    title: repository === '' ? title : `[${repository}] ${title}`,
    text: excerpt(text),
    url: url || page,
    sender,
  });
  const ref = shortRef(of('ref'));
  if (event === 'push') {
    const commits = Array.isArray(payload['commits']) ? payload['commits'] : [];
    const total = Number(of('total_commits')) || commits.length;
    const lines = commits.map(
      (commit) =>
        `${at(commit, 'id').slice(0, 10)} ${at(commit, 'message').split('\n')[0]} – ${at(commit, 'author.name')}`,
    );
    const count = total === 1 ? '1 commit' : `${total} commits`;
    return told(`${sender.name} pushed ${count} to ${ref}`, of('compare_url'), lines.join('\n'));
  }
  if (event === 'create') return told(`${sender.name} created ${of('ref_type')} ${ref}`, page);
  if (event === 'delete') return told(`${sender.name} deleted ${of('ref_type')} ${ref}`, page);
  if (event === 'status')
    return told(
      `${of('context')}: ${of('state')} for ${of('sha').slice(0, 10)}`,
      of('target_url') || of('commit.url'),
      of('description'),
    );
  if (event === 'fork') return told(`${sender.name} forked ${of('forkee.full_name')}`, page);
  if (event === 'repository') return told(`${sender.name} ${of('action')} the repository`, page);
  if (event === 'gollum') {
    const pages = Array.isArray(payload['pages']) ? payload['pages'] : [];
    const lines = pages.map((each) => `${at(each, 'action')} ${at(each, 'title')}`);
    const count = pages.length === 1 ? `page ${of('page')}` : `${pages.length} pages`;
    return told(`${sender.name} changed ${count} of the wiki`, at(pages[0] ?? null, 'html_url'), lines.join('\n'));
  }
  if (event === 'release')
    return told(
      `${sender.name}: release ${of('release.name')} ${of('action')}`,
      of('release.html_url'),
      of('release.body'),
    );
  if (event === 'package') {
    const named = `${of('package.name')} ${of('package.version')} (${of('package.type')})`;
    return told(`${sender.name}: package ${named} ${of('action')}`, of('package.html_url'));
  }
  if (event === 'workflow_run') {
    const run = `${of('workflow_run.name')} #${of('workflow_run.run_number')}`;
    return told(
      `${run}: ${of('workflow_run.conclusion')}`,
      of('workflow_run.html_url'),
      of('workflow_run.display_title'),
    );
  }
  if (event === 'deployment' || event === 'deployment_status') {
    const where = `deployment of ${of('deployment.ref')} to ${of('deployment.environment')}`;
    const state = of('deployment_status.state').replaceAll('_', ' ');
    return told(
      event === 'deployment' ? `${sender.name}: ${where}` : `${where}: ${state}`,
      of('deployment_status.environment_url') || of('deployment_status.log_url') || of('workflow_run.html_url'),
      of('deployment_status.description') || of('deployment.description'),
    );
  }
  const subject = isObject(payload['pull_request']) ? 'pull_request' : isObject(payload['issue']) ? 'issue' : null;
  if (subject !== null) {
    const kind = subject === 'issue' ? 'issue' : 'pull request';
    const named = `${kind} #${of(`${subject}.number`)} ${of(`${subject}.title`)}`;
    const action = of('action').replaceAll('_', ' ');
    if (isObject(payload['comment']))
      return told(`${sender.name}: comment ${action} on ${named}`, of('comment.html_url'), of('comment.body'));
    if (isObject(payload['review']))
      return told(`${sender.name} reviewed ${named}`, of(`${subject}.html_url`), of('review.content'));
    const text = action === 'opened' ? of(`${subject}.body`) : '';
    return told(`${sender.name}: ${named} ${action}`, of(`${subject}.html_url`), text);
  }
  return told(event === 'ping' ? 'It works.' : event.replaceAll('_', ' '), page);
}
