import type { IssueRights, Label, Link, Milestone } from '../../issues/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { linkWords } from './event-parts.view.ts';
import type { OtherIssueView } from './event-parts.view.ts';
import { viewLinkedLabel } from './issue-row.view.ts';
import type { LinkedLabelView } from './issue-row.view.ts';
import { viewLabel } from './label.view.ts';
import type { LabelView } from './label.view.ts';
import { viewPerson } from './people.view.ts';
import type { People, PersonView } from './people.view.ts';

/** The sidebar of an issue, and the parts that the viewer can change. */
interface IssueSidebarView {
  labels: LinkedLabelView[];
  assignees: PersonView[];
  milestone: { title: string; url: string; isClosed: boolean } | null;
  links: { kind: string; words: string; isOutgoing: boolean; issue: OtherIssueView }[];
  participants: PersonView[];
  /** Null for viewers who cannot subscribe: anonymous clients, and users who may not participate. */
  isSubscribed: boolean | null;
  isLocked: boolean;
  isPinned: boolean;
  /** The choices; null for a viewer who may not triage. */
  choices: SideChoices | null;
  mayManage: boolean;
}

interface SideChoices {
  labels: (LabelView & { isOn: boolean })[];
  /** Labels without a checkbox: their names are typed. */
  hasMoreLabels: boolean;
  milestones: { title: string; isOn: boolean }[];
  /** Usernames of participants, for the field of assignees. */
  people: string[];
  mayAssignSelf: boolean;
}

/** Maximum number of checkboxes: readers do not scan longer lists. */
const maxLabelBoxes = 100;

interface SidebarContext {
  repositoryUrl: string;
  /** The URL of the list of issues with a label. */
  labelUrl: (name: string) => string;
  labels: readonly Label[];
  assignees: readonly string[];
  milestoneId: string | null;
  isLocked: boolean;
  isPinned: boolean;
  links: readonly Link[];
  participants: readonly string[];
  isSubscribed: boolean | null;
  rights: IssueRights;
  /** All of the repository's; empty for a viewer who may not triage. */
  allLabels: readonly Label[];
  milestones: readonly Milestone[];
  people: People;
  viewerId: string | null;
  viewOther(issue: Link['issue']): OtherIssueView;
}

export function viewIssueSidebar(around: SidebarContext): IssueSidebarView {
  const { people, milestones, milestoneId, viewerId } = around;
  const isOn = new Set(around.labels.map(({ id }) => id));
  const milestone = milestones.find(({ id }) => id === milestoneId) ?? null;
  const boxes = [
    ...around.allLabels.filter(({ id }) => isOn.has(id)),
    ...around.allLabels.filter(({ id }) => !isOn.has(id)).slice(0, maxLabelBoxes),
  ];
  const named = [...new Set([...around.participants, ...around.assignees])];
  return {
    labels: around.labels.map((label) => viewLinkedLabel(label, around.labelUrl)),
    assignees: around.assignees.map((id) => viewPerson(id, people)),
    milestone:
      milestone === null
        ? null
        : {
            title: viewName(milestone.title),
            url: `${around.repositoryUrl}/milestones/${milestone.id}`,
            isClosed: milestone.closedAt !== null,
          },
    links: around.links.flatMap(({ kind, isOutgoing, issue }) =>
      kind === 'mentions'
        ? []
        : [{ kind, isOutgoing, words: wordsOf(kind, isOutgoing), issue: around.viewOther(issue) }],
    ),
    participants: around.participants.map((id) => viewPerson(id, people)),
    isSubscribed: around.isSubscribed,
    isLocked: around.isLocked,
    isPinned: around.isPinned,
    choices:
      around.rights('triage') === null
        ? {
            labels: boxes
              .sort((a, b) => (a.nameFolded < b.nameFolded ? -1 : 1))
              .map((label) => ({ ...viewLabel(label), isOn: isOn.has(label.id) })),
            hasMoreLabels: boxes.length < around.allLabels.length,
            milestones: milestones
              .filter(({ id, closedAt }) => closedAt === null || id === milestoneId)
              .map(({ id, title }) => ({ title, isOn: id === milestoneId })),
            people: named.flatMap((id) => people.get(id)?.handle ?? []),
            mayAssignSelf: viewerId !== null && !around.assignees.includes(viewerId),
          }
        : null,
    mayManage: around.rights('manage') === null,
  };
}

function wordsOf(kind: Link['kind'], isOutgoing: boolean): string {
  if (isOutgoing) return { ...linkWords }[kind] ?? kind;
  return kind === 'closes'
    ? t('issues.issue_side.closed_by')
    : kind === 'needs'
      ? t('issues.issue_side.needed_by')
      : t('issues.issue_side.has_the_duplicate');
}
