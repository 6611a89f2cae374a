import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export default function News() {
  return <Notifications position="bottom-right" limit={4} />;
}
