import { asAPIError } from '@/api';
import { chunk } from '@/lib/chunk';

/** Loaded when there is the first news: the frame itself has none. */
const load = chunk(() => import('@mantine/notifications').then((m) => m.notifications));

/** Short news at the edge of the page. What needs an answer stands in the page instead. */
export const notify = {
  done(message: string) {
    void load().then((n) => n.show({ message, color: 'teal', autoClose: 4000 }));
  },
  /** "Could not revoke the key": with why, and the request's id for the log. */
  failed(doing: string, error: unknown) {
    const err = asAPIError(error);
    void load().then((n) =>
      n.show({
        title: `Could not ${doing}`,
        message: err.requestId ? `${err.message} (request ${err.requestId})` : err.message,
        color: 'red',
        autoClose: 12_000,
      }),
    );
  },
};
