import type { AccessNews } from '../../notifications/index.ts';
import { organisationUrl, personUrl, repositoryUrl, teamUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';

interface AccessNewsView {
  id: number;
  icon: string;
  kind: string;
  name: string;
  url: string;
  role: string | null;
  by: { name: string; url: string } | null;
  at: TimeView;
}

function placeOf(place: AccessNews['place']): Pick<AccessNewsView, 'icon' | 'kind' | 'name' | 'url'> {
  switch (place.kind) {
    case 'repository':
      return {
        icon: 'repository',
        kind: t('notifications.access_news.the_repository'),
        name: `${place.owner}/${place.name}`,
        url: repositoryUrl(place),
      };
    case 'organisation':
      return {
        icon: 'organisation',
        kind: t('notifications.access_news.the_organisation'),
        name: place.name,
        url: organisationUrl(place.name),
      };
    case 'team': {
      const url = teamUrl(place.organisation, place.name);
      return {
        icon: 'people',
        kind: t('notifications.access_news.the_team'),
        name: `${place.organisation}/${place.name}`,
        url,
      };
    }
  }
}

export const viewAccessNews = ({ id, place, role, by, at }: AccessNews, now: number): AccessNewsView => ({
  id,
  ...placeOf(place),
  role,
  by: by === null ? null : { name: by, url: personUrl(by) },
  at: viewTime(at, now),
});
