import { defaultLabels, noFilter } from '../../issues/index.ts';
import type { Label, LabelScope } from '../../issues/index.ts';
import { organisationUrl, repositoryUrl } from '../../http/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import type {
  OrganisationOwnerContext,
  Page,
  RepositoryContext,
  RepositoryPersonContext,
} from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';
import { issueListUrl } from './issue-filter.view.ts';
import { viewLinkedLabel } from './issue-row.view.ts';
import { viewLabel } from './label.view.ts';
import type { LabelView } from './label.view.ts';

/** The submitted form of the page, by the id of a label or `new`: refused, or for a preview. */
interface FormAgain {
  which: string;
  refusal: FormRefusal | null;
}

/** The differences between the label pages of a repository and of an organisation. */
interface LabelPageScope<V> {
  scope(context: V): LabelScope;
  url(context: V): string;
  list(context: V, deps: IssuesDeps): Promise<Label[]>;
  /** Further locals of the template. */
  locals(context: V, deps: IssuesDeps): Promise<Record<string, unknown>>;
  /** URL of the issues with a label; null where no such list exists. */
  issuesUrl(context: V): string | null;
  owns(label: Label, context: V): boolean;
}

const formOf = ({
  name,
  colour,
  description,
  isExclusive,
}: Pick<Label, 'name' | 'colour' | 'description' | 'isExclusive'>) => ({
  name,
  colour: `#${colour}`,
  description,
  isExclusive,
});

/** A colour that differs from the existing ones. */
const firstColours = ['d73a4a', '0e8a16', '0075ca', 'd876e3', 'fbca04', '5319e7', '008672', 'c2562d'] as const;

function labelPages<V extends RepositoryContext | OrganisationOwnerContext>(place: LabelPageScope<V>) {
  const readForm = ({ form }: V) => ({
    name: form.text('name').trim(),
    colour: form.text('colour').trim(),
    description: form.text('description'),
    isExclusive: form.text('exclusive') !== '',
  });

  /** The submitted label; null where it was refused, or is not a label. */
  const previewOf = ({ form }: V, { refusal }: FormAgain): LabelView | null => {
    const name = form.text('name').trim().slice(0, 50);
    if (refusal !== null || name === '') return null;
    return viewLabel({ name, colour: form.text('colour').trim().replace(/^#/, '') });
  };
  const isPreview = ({ form }: V): boolean => form.text('action') === 'preview';

  async function labelsPage(context: V, deps: IssuesDeps, again: FormAgain | null = null): Promise<PageReply> {
    const [labels, locals, counts] = await Promise.all([
      place.list(context, deps),
      place.locals(context, deps),
      deps.issues.countLabelled(context.viewer, place.scope(context)),
    ]);
    const issuesUrl = place.issuesUrl(context);
    const urlOf =
      issuesUrl === null ? null : (name: string) => issueListUrl(issuesUrl, { ...noFilter, labels: [name] });
    const isEdited = (id: string): boolean => again?.which === id;
    const formAgain = (id: string) =>
      isEdited(id) ? { form: readForm(context), refusal: again!.refusal, preview: previewOf(context, again!) } : null;
    const present = new Set(labels.filter((label) => place.owns(label, context)).map(({ nameFolded }) => nameFolded));
    return page('issues/labels', {
      ...locals,
      url: place.url(context),
      labels: labels.map((label) => ({
        ...viewLinkedLabel(label, urlOf),
        id: label.id,
        isExclusive: label.isExclusive,
        isOwn: place.owns(label, context),
        open: counts === null ? null : viewCount(counts.get(label.id) ?? 0, 'open issue'),
        ...(formAgain(label.id) ?? { form: formOf(label), refusal: null, preview: null }),
        isEdited: isEdited(label.id),
      })),
      hasAllDefaults: defaultLabels.every(({ name }) => present.has(name.toLowerCase())),
      ...(formAgain('new') ?? {
        form: {
          name: '',
          colour: `#${firstColours[labels.length % firstColours.length]!}`,
          description: '',
          isExclusive: false,
        },
        refusal: null,
        preview: null,
      }),
      notice: viewFlashMessage(context.query),
    });
  }

  const labelId = ({ params }: V): string => params['label'] ?? '';
  const done = (context: V, notice: string) => seeOther(withFlashMessage(place.url(context), notice));

  return {
    show: (context: V, deps: IssuesDeps) => labelsPage(context, deps),
    /** Fields `name`, `colour` (`#d73a4a`), `description`, `exclusive` (a checkbox), `action` (save or preview). */
    add: (context: V, deps: IssuesDeps) =>
      isPreview(context)
        ? labelsPage(context, deps, { which: 'new', refusal: null })
        : submitForm(
            async () => {
              await deps.issues.addLabel(context.viewer, place.scope(context), readForm(context));
              return done(context, 'label-added');
            },
            (refusal) => labelsPage(context, deps, { which: 'new', refusal }),
          ),
    /** The same fields. */
    edit: (context: V, deps: IssuesDeps) =>
      isPreview(context)
        ? labelsPage(context, deps, { which: labelId(context), refusal: null })
        : submitForm(
            async () => {
              await deps.issues.editLabel(context.viewer, place.scope(context), labelId(context), readForm(context));
              return done(context, 'label-saved');
            },
            (refusal) => labelsPage(context, deps, { which: labelId(context), refusal }),
          ),
    remove: async (context: V, deps: IssuesDeps) => {
      await deps.issues.deleteLabel(context.viewer, place.scope(context), labelId(context));
      return done(context, 'label-removed');
    },
    addDefaults: async (context: V, deps: IssuesDeps) => {
      await deps.issues.addDefaultLabels(context.viewer, place.scope(context));
      return done(context, 'labels-added');
    },
  };
}

const ofRepository: LabelPageScope<RepositoryContext> = {
  scope: ({ found }) => ({ repository: found.canonical }),
  url: ({ found }) => `${repositoryUrl(found.canonical)}/labels`,
  list: ({ viewer, found }, { issues }) => issues.listLabels(viewer, found.canonical),
  locals: async ({ viewer, found }, { issues }) => ({
    repository: viewRepositoryHeader(found),
    organisation: null,
    mayManage: (await issues.rightsIn(viewer, found.canonical))('label') === null,
  }),
  issuesUrl: ({ found }) => `${repositoryUrl(found.canonical)}/issues`,
  owns: ({ repositoryId }) => repositoryId !== null,
};

const ofOrganisation: LabelPageScope<OrganisationOwnerContext> = {
  scope: ({ organisation }) => ({ organisation: organisation.name }),
  url: ({ organisation }) => `${organisationUrl(organisation.name)}/settings/labels`,
  list: ({ organisation }, { issues }) => issues.listOrganisationLabels(organisation.name),
  locals: async ({ organisation }, { owners }) => ({
    repository: null,
    organisation: viewOrganisationHeader(organisation, await owners.avatarAt(organisation.id), 'OWNER'),
    mayManage: true,
  }),
  issuesUrl: () => null,
  owns: () => true,
};

const repositoryLabels = labelPages(ofRepository);
export const organisationLabels = labelPages(ofOrganisation);

/** `B/labels`: for everyone with read access. */
export const showLabels: Page<RepositoryContext, IssuesDeps> = repositoryLabels.show;
export const addLabel: Page<RepositoryPersonContext, IssuesDeps> = repositoryLabels.add;
export const editLabel: Page<RepositoryPersonContext, IssuesDeps> = repositoryLabels.edit;
export const removeLabel: Page<RepositoryPersonContext, IssuesDeps> = repositoryLabels.remove;
export const addDefaultLabels: Page<RepositoryPersonContext, IssuesDeps> = repositoryLabels.addDefaults;
