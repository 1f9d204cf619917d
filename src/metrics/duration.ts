/** Seconds as people read them: 8.3 s, 4:05, 2:10:00. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** "4:05 left"; what nobody knows, or what is as good as over, is not given as a number. */
export function leftText(seconds: number, before = ""): string {
  if (!Number.isFinite(seconds)) return "time left not known yet";
  return seconds < 1 ? "nearly done" : `${before}${formatDuration(seconds)} left`;
}
