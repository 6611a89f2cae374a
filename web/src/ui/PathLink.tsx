import { Link, type LinkComponentProps } from '@tanstack/react-router';

type Props = Omit<LinkComponentProps<'a'>, 'to' | 'search' | 'params' | 'href'> & {
  /** "/pipelines/3/work?role=reviewer": for links that are data, not places that the compiler knows. */
  path: string;
};

export function PathLink({ path, ...rest }: Props) {
  const [to = '/', query] = path.split('?');
  const search = Object.fromEntries(new URLSearchParams(query ?? ''));
  return <Link {...rest} to={to as '/'} search={search as never} />;
}
