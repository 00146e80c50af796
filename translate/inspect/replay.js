// Time, played again: each unit is seen when it came, or when it could be said. `on`: what is played.
const replayOf = (on) => {
  let frame = 0;

  function play() {
    const times = on.times();
    if (frame || !times) return stop();
    on.begin();
    const began = performance.now();
    const step = () => {
      const until = times.first + performance.now() - began;
      if (until >= times.last) return stop();
      tools.now(times, until);
      on.show(until, times.source.findLastIndex((time) => time <= until));
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    $("replay").textContent = "■ Stop";
  }

  function stop() {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    $("replay").textContent = "▶ Replay";
    if (on.times()) tools.now(on.times(), on.times().first);
    on.end();
  }

  $("replay").onclick = play;
  return { stop };
};
