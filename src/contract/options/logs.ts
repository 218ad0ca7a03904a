import { units } from '../units.ts'
import { option, section } from './define.ts'
import { choice, integer, toggle } from './shapes.ts'

export const logs = section(
  { name: 'logs', tab: 'operation', label: { zh: '日志设置', en: 'Log settings' }, writer: 'admin' },
  {
    LogConsumeEnabled: option({
      ...toggle(true),
      label: { zh: '启用额度消费日志记录', en: 'Keep usage logs' },
      help: {
        zh: '关闭后不再记录单次消费，但扣费照常。',
        en: 'When off, individual charges are not logged. They are charged as usual.',
      },
    }),
    LogRetentionDays: option({
      ...integer(0, { min: 0, max: 3650, unit: units.days }),
      label: { zh: '消费日志保留天数', en: 'Usage log retention' },
      help: {
        zh: '更早的消费日志会自动清理，账目、余额和数据看板不受影响；0 表示一直保留。',
        en: 'Older usage logs are deleted automatically. The ledger, balances and dashboard are not affected. 0 keeps all logs.',
      },
    }),
    ErrorLogMode: option({
      ...choice('sampled', {
        off: { zh: '不记录', en: 'Off' },
        sampled: { zh: '限速记录', en: 'Limited per second' },
        all: { zh: '全部记录', en: 'All' },
      }),
      label: { zh: '失败调用日志', en: 'Logs of failed calls' },
      help: {
        zh: '把没有得到回答的调用记为“错误”日志，不影响扣费与统计。限速记录时，超过每秒上限的只计数，不写入。',
        en: 'Logs calls that end without an answer, as type Error. Charges and statistics are not affected. When limited, calls above the limit of a second are counted but not logged.',
      },
    }),
    ErrorLogRowsPerSecond: option({
      ...integer(20, { min: 1, max: 1000, unit: { zh: '条/秒', en: 'per second' } }),
      label: { zh: '失败调用每秒记录上限', en: 'Failed calls logged per second' },
      help: {
        zh: '每个节点每秒最多写入的失败调用；单个用户最多占一半。仅用于限速记录。',
        en: 'The most failed calls that a node logs in a second, at most half of them of one user. Applies when limited.',
      },
    }),
    ErrorLogRetentionDays: option({
      ...integer(30, { min: 0, max: 3650, unit: { zh: '天', en: 'days' } }),
      label: { zh: '失败调用日志保留天数', en: 'Failed call retention' },
      help: {
        zh: '更早的失败调用日志会自动清理；0 表示不按时间清理。',
        en: 'Older logs of failed calls are deleted automatically. 0 keeps them regardless of age.',
      },
    }),
    ErrorLogRowsMax: option({
      ...integer(500_000, { min: 1000, max: 100_000_000, unit: { zh: '条', en: 'rows' } }),
      label: { zh: '失败调用日志最多条数', en: 'Most logs of failed calls' },
      help: {
        zh: '超出后自动清理最早的失败调用日志，避免占满磁盘。',
        en: 'Beyond this number the oldest logs of failed calls are deleted, so that they cannot fill the disk.',
      },
    }),
    TaskRetentionDays: option({
      ...integer(0, { min: 0, max: 3650, unit: units.days }),
      label: { zh: '绘图与异步任务保留天数', en: 'Drawing and task retention' },
      help: {
        zh: '更早且已结束的绘图与异步任务会自动清理，账目和余额不受影响；0 表示一直保留。',
        en: 'Older drawings and tasks that have ended are deleted automatically. The ledger and balances are not affected. 0 keeps all of them.',
      },
    }),
  },
)

export const dashboard = section(
  { name: 'dashboard', tab: 'operation', label: { zh: '数据看板设置', en: 'Data dashboard settings' }, writer: 'admin' },
  {
    DataExportEnabled: option({
      ...toggle(true),
      label: { zh: '启用数据看板', en: 'Enable the data dashboard' },
      help: {
        zh: '汇总每小时的用量并在侧边栏显示数据看板。',
        en: 'Aggregates usage by hour and shows the dashboard in the sidebar.',
      },
    }),
    DataExportInterval: option({
      ...integer(5, { min: 1, max: 10_080, unit: units.minutes }),
      label: { zh: '数据看板更新间隔', en: 'Dashboard update interval' },
      help: {
        zh: '多久更新一次汇总数据，过短会增加数据库负担。',
        en: 'How often usage is aggregated. Short intervals increase the load on the database.',
      },
    }),
    DataExportDefaultTime: option({
      ...choice('hour', {
        hour: { zh: '小时', en: 'Hour' },
        day: { zh: '天', en: 'Day' },
        week: { zh: '周', en: 'Week' },
      }),
      label: { zh: '数据看板默认时间粒度', en: 'Default time granularity' },
      help: { zh: '仅影响显示，数据始终按小时汇总。', en: 'Affects the display only. Data is always aggregated by hour.' },
    }),
  },
)
