import { useLocation } from '@tanstack/react-router';
import { useMe } from '@/features/session/me';
import { PathLink } from '@/ui/PathLink';
import { StatusDot } from '@/ui/StatusBadge';
import { navIcons } from './icons';
import classes from './Nav.module.css';
import { isHere, type NavItem, navigation } from './nav';
import { usePlace } from './place';
import { useWorkCount } from './useWorkCount';

/** Where one can go: by role, and by where one is. */
export function Nav({ go }: { go: () => void }) {
  const b = useMe();
  const place = usePlace();
  const { pathname } = useLocation();
  const waiting = useWorkCount();
  return (
    <div className={classes.scroll}>
      <nav aria-label="Main" className={classes.nav}>
        {navigation(b, place).map((section) => (
          <div key={section.title ?? ''} className={classes.section}>
            {section.title && <h2 className={classes.title}>{section.title}</h2>}
            <ul className={classes.list}>
              {section.items.map((item) => (
                <Item
                  key={item.to}
                  item={item}
                  pathname={pathname}
                  go={go}
                  count={item.to === '/work' ? waiting : undefined}
                />
              ))}
            </ul>
          </div>
        ))}
      </nav>
    </div>
  );
}

interface ItemProps {
  item: NavItem;
  pathname: string;
  go: () => void;
  count?: string;
}

function Item({ item, pathname, go, count }: ItemProps) {
  const Icon = item.icon && navIcons[item.icon];
  const here = isHere(item, pathname);
  return (
    <li>
      <PathLink
        path={item.to}
        className={classes.item}
        onClick={go}
        data-here={here || undefined}
        aria-current={here ? 'page' : undefined}
        activeProps={{}}
      >
        {Icon && <Icon size={18} stroke={1.6} aria-hidden="true" />}
        {item.status && (
          <span className={classes.dot}>
            <StatusDot status={item.status} />
          </span>
        )}
        <span className={classes.label} title={item.label}>
          {item.label}
        </span>
        {count && <span className={classes.count}>{count}</span>}
      </PathLink>
    </li>
  );
}
