import type { SourceKind } from '../schema/source-kind.ts';

type Line = readonly [item: string, problem: string];

const runs: Line = ['workflows', 'their files come with the code; runs, logs and artifacts stay there'];

/** What no import from a forge brings, and why: for the report of a dry run. */
export const whatStays: Readonly<Record<SourceKind, readonly Line[]>> = {
  gitea: [
    ['projects', 'boards stay there: its API has no list of them'],
    ['dependencies', 'of issues stay there: its API lists them for each issue alone'],
    runs,
  ],
  github: [
    ['sub-issues and dependencies', 'of issues stay there: its API lists them for each issue alone'],
    ['discussions and projects', 'stay there: its REST API has no lists of them'],
    ['attached files', 'of a private repository stay there: only browsers of signed-in people get them'],
    runs,
  ],
  gitlab: [
    ['confidential issues', 'stay there, as do internal notes: all readers of the repository would see them here'],
    ['linked issues and tracked times', 'stay there: its REST API shows them for each issue alone, or only their sum'],
    ['watches', 'stay there: its API does not show who watches a project'],
    ['boards, epics and snippets', 'stay there: nothing here is like them'],
    ['pipelines', '.gitlab-ci.yml does not run here; jobs and artifacts stay there'],
  ],
};
