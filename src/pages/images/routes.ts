import type { Route } from '../route.ts';
import { showRemoteImage } from './image.page.ts';

/** Images of other hosts. The address itself is the right to it, like that of the document. */
export const imageRoutes: readonly Route[] = [
  { method: 'GET', path: '/-/images/:signature/:encoded', access: 'open', cost: 'rows', page: showRemoteImage },
];
