import { Anchor, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Progress as Numbers } from '@/api';
import { Section } from '@/ui/Section';
import classes from './home.module.css';
import { progressQuery } from './queries';

/** The server counts no further. */
const totalMost = 10_000;

/** What the person submitted: today, this week, the last two weeks by day. */
export function Progress() {
  const { data, isPending } = useQuery({ ...progressQuery, refetchInterval: 20_000 });
  if (isPending) {
    return (
      <Section title="My progress">
        <Skeleton h={150} />
      </Section>
    );
  }
  if (!data) return null; // an ornament: the page stands without it
  const judged = data.accepted + data.returned;
  return (
    <Section title="My progress">
      <div className={classes.progress}>
        <dl className={classes.numbers}>
          <Count label="Today" n={data.today} />
          <Count label="This week" n={data.week} />
          <Count label="In all" n={data.total} most={totalMost} />
        </dl>
        <Days days={data.days} />
        {judged > 0 && (
          <p className={classes.dim}>
            {data.accepted.toLocaleString('en')} accepted, {data.returned.toLocaleString('en')} returned (
            {Math.round((100 * data.accepted) / judged)} % accepted)
          </p>
        )}
        <Anchor component={Link} to="/history" size="sm">
          My submissions
        </Anchor>
      </div>
    </Section>
  );
}

function Count({ label, n, most }: { label: string; n: number; most?: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {n.toLocaleString('en')}
        {n === most && '+'}
      </dd>
    </div>
  );
}

function Days({ days }: { days: Numbers['days'] }) {
  const top = Math.max(1, ...days.map((d) => d.count));
  const total = days.reduce((sum, d) => sum + d.count, 0);
  return (
    <div
      className={classes.days}
      role="img"
      aria-label={`${total} submissions in the last ${days.length} days, ${top > 1 ? top : total} on the busiest`}
    >
      {days.map((d) => (
        <div key={d.date} title={`${d.date}: ${d.count}`} className={classes.day}>
          <div style={{ height: `${(d.count / top) * 100}%` }} data-none={d.count === 0 || undefined} />
        </div>
      ))}
    </div>
  );
}
