/** Episodes recorded for world models: every frame, mistakes included, with the goals of all tasks. */
export { EpisodeEnd } from "./episode-end.ts";
export { type RecordingSettings, recordingSettings } from "./recording-settings.ts";
export { type PlayedScene, ScenePlayer } from "./scene-player.ts";
export { ScriptedRecorder } from "./scripted-recorder.ts";
export { suiteCamera } from "./suite-camera.ts";
